// Package view shows a worker: a line from time to time, or a screen that is drawn anew each
// second.
package view
