// Package disk finds the free space of file systems.
package disk
