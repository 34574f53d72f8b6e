//go:build unix

package command

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// own gives the command its own process group.
func own(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithParent(cmd.SysProcAttr)
}

// apart keeps a process from the signals of the terminal and of this process's group.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// look is the time between two checks whether a group has ended: no system reports the end of a
// group.
const look = 5 * time.Millisecond

// end ends the processes that are left of the group that the process leads or led: SIGTERM, the
// grace, SIGKILL.
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

// send sends a signal to a group. It returns an error if no process of the group is left.
func send(group int, s syscall.Signal) error {
	if err := syscall.Kill(-group, s); !errors.Is(err, syscall.EPERM) { // macOS returns EPERM for zombies
		return err
	}
	return os.ErrProcessDone
}
