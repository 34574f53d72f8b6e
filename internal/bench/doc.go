// Package bench measures the time and the memory that a limiter and a set of limiters take. Only
// tests import it.
package bench
