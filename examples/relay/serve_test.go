package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A running is a relay that serves as a process of its own.
type running struct {
	process          *exec.Cmd
	public, internal string // addresses
	wait             func() // until it has ended
	memory           func() peak
}

var listening = regexp.MustCompile(`for=(\w+) address=(\S+)`)

// serve starts a relay on free ports.
func serve(t *testing.T, dir string, args ...string) running {
	t.Helper()
	r := running{process: process(t, append([]string{"serve", "-store", dir, "-listen", "localhost:0", "-internal", "localhost:0"}, args...)...)}
	complaints, err := r.process.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.process.Start(); err != nil {
		t.Fatal(err)
	}
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
	seen := make(chan peak, 1)
	ended := make(chan struct{})
	go func() { seen <- watch(r.process.Process.Pid, ended) }()
	r.wait = sync.OnceFunc(func() {
		for lines.Scan() { // to its end, as Wait demands
			t.Log(lines.Text())
		}
		_ = r.process.Wait() // killed, or it said why
		close(ended)
	})
	r.memory = sync.OnceValue(func() peak { return <-seen })
	t.Cleanup(func() {
		_ = r.process.Process.Kill()
		r.wait()
	})
	if r.internal == "" {
		t.Fatal("the relay ended before it had listeners")
	}
	return r
}

// stop ends the relay as an operator would, and returns what was seen of its memory.
func (r running) stop(t *testing.T) peak {
	t.Helper()
	if err := r.process.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	r.wait()
	return r.memory()
}

// A peak is what was seen of the memory of a process, at most, in MiB.
type peak struct{ anonymous, resident float64 }

// watch samples the memory of a process each 50 ms until it has ended.
func watch(pid int, ended <-chan struct{}) (p peak) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			return p
		case <-tick.C:
		}
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
		var size, resident, shared float64
		if err != nil {
			continue
		}
		if _, err := fmt.Sscan(string(text), &size, &resident, &shared); err != nil {
			continue // it has ended
		}
		page := float64(os.Getpagesize()) / (1 << 20)
		p.anonymous, p.resident = max(p.anonymous, (resident-shared)*page), max(p.resident, resident*page)
	}
}
