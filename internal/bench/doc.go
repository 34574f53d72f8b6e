// Package bench measures the time and the memory that a limiter and a set of limiters take. It has
// benchmarks and tests only.
package bench
