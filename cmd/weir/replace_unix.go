//go:build unix

package main

import "syscall"

// replace replaces this program in its process by another program. It returns only if that fails.
func replace(path string, args, env []string) error {
	return syscall.Exec(path, args, env) //nolint:gosec // find has found it
}
