package main

import (
	"bufio"
	"os/exec"
	"regexp"
	"sync"
	"syscall"
	"testing"

	"github.com/weir-go/weir/examples/internal/importtest"
	"github.com/weir-go/weir/internal/must"
)

// A running is a relay in a process of its own.
type running struct {
	process          *exec.Cmd
	public, internal string // addresses
	wait             func() // waits until it has ended
	memory           func() importtest.Peak
}

var listening = regexp.MustCompile(`for=(\w+) address=(\S+)`)

// serve starts a relay on free ports.
func serve(t *testing.T, dir string, args ...string) running {
	t.Helper()
	r := running{process: process(t, append([]string{"-store", dir, "-listen", "localhost:0", "-internal", "localhost:0"}, args...)...)}
	complaints := must.Have(r.process.StderrPipe())(t)
	must.Do(t, r.process.Start())
	lines := bufio.NewScanner(complaints)
	for r.internal == "" && lines.Scan() {
		switch address := listening.FindStringSubmatch(lines.Text()); {
		case address == nil:
			t.Log(lines.Text())
		case address[1] == "listen":
			r.public = address[2]
		default:
			r.internal = address[2]
		}
	}
	seen := make(chan importtest.Peak, 1)
	ended := make(chan struct{})
	go func() { seen <- importtest.Watch(r.process.Process.Pid, 512, ended) }()
	r.wait = sync.OnceFunc(func() {
		for lines.Scan() { // to its end, as Wait demands
			t.Log(lines.Text())
		}
		_ = r.process.Wait() // killed, or it printed the reason
		close(ended)
	})
	r.memory = sync.OnceValue(func() importtest.Peak { return <-seen })
	t.Cleanup(func() {
		_ = r.process.Process.Kill()
		r.wait()
	})
	if r.internal == "" {
		t.Fatal("the relay ended before it had listeners")
	}
	return r
}

// stop ends the relay as an operator would, and returns its peak memory.
func (r running) stop(t *testing.T) importtest.Peak {
	t.Helper()
	must.Do(t, r.process.Process.Signal(syscall.SIGTERM))
	r.wait()
	return r.memory()
}
