//go:build !unix

package command

import (
	"os"
	"os/exec"
	"time"
)

// These systems have no process groups: only the command itself can be killed.

func own(*exec.Cmd)   {}
func apart(*exec.Cmd) {}

func end(leader *os.Process, _ time.Duration) { _ = leader.Kill() }

func kill(process int) {
	if p, err := os.FindProcess(process); err == nil {
		_ = p.Kill()
	}
}
