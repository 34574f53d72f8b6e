//go:build unix && !linux

package command

import "syscall"

func dieWithParent(*syscall.SysProcAttr) {}
