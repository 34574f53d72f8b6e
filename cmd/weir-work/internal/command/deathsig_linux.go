package command

import "syscall"

// dieWithParent makes Linux kill the command with this process, also in the moment before the guard
// knows the command. The signal comes when the thread that started the command ends: Go keeps its
// threads.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
