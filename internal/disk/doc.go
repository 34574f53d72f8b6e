// Package disk asks how much room file systems have.
package disk
