// Package view prints the state of a worker, a line from time to time.
package view
