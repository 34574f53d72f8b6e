//go:build unix

package main

import "syscall"

// replace has another program take the place of this one in its process. It returns only an error.
func replace(path string, args, env []string) error {
	return syscall.Exec(path, args, env) //nolint:gosec // find has found it
}
