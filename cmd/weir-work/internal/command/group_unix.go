//go:build unix

package command

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// own gives the command a process group of its own.
func own(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithParent(cmd.SysProcAttr)
}

// apart keeps a process from the signals of the terminal and of this process's group.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// look is how often a group is looked at that should end: no system says when it has.
const look = 5 * time.Millisecond

// end ends all that is left of the group that the process leads or led: SIGTERM, the grace,
// SIGKILL.
func end(leader *os.Process, grace time.Duration) {
	if send(leader.Pid, syscall.SIGTERM) != nil {
		return
	}
	over := time.After(grace)
	each := time.NewTicker(look)
	defer each.Stop()
	for send(leader.Pid, 0) == nil {
		select {
		case <-each.C:
		case <-over:
			kill(leader.Pid)
			return
		}
	}
}

func kill(group int) { _ = send(group, syscall.SIGKILL) }

// send is an error if no process of the group is left.
func send(group int, s syscall.Signal) error {
	if err := syscall.Kill(-group, s); !errors.Is(err, syscall.EPERM) { // which macOS says of zombies
		return err
	}
	return os.ErrProcessDone
}
