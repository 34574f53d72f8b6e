// Package stress tests limiters and sets with many goroutines, clients and keys at once. It has
// tests only.
package stress
