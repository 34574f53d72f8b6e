package command

import "syscall"

// dieWithParent has the command killed with this process also in the moment before the guard knows
// of it. The signal comes when the thread ends that started the command: Go keeps its threads.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
