package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// A peak is what was seen of the memory of a process.
type peak struct {
	anonymous, resident float64 // at most, MiB
	above               float64 // share of samples with resident memory above the target
}

// sample runs a command and samples its memory each 50 ms until it ends.
func sample(t *testing.T, c *exec.Cmd, target int) (p peak, failed error) {
	t.Helper()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() { ended <- c.Wait() }()
	samples, above := 0, 0
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			p.above = float64(above) / float64(max(samples, 1))
			return p, err
		case <-tick.C:
			text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", c.Process.Pid))
			var size, all, shared float64
			if err != nil {
				continue
			}
			if _, err := fmt.Sscan(string(text), &size, &all, &shared); err != nil {
				continue // it has ended
			}
			page := float64(os.Getpagesize()) / (1 << 20)
			p.anonymous, p.resident = max(p.anonymous, (all-shared)*page), max(p.resident, all*page)
			if samples++; all*page > float64(target) {
				above++
			}
		}
	}
}

// observe runs measure in a process of its own.
func observe(t *testing.T, target, records int, args ...string) (f figure) {
	t.Helper()
	store := filepath.Join(t.TempDir(), "store")
	defer os.RemoveAll(store) // it takes gigabytes
	c := self(t, append([]string{measuring, "-target", strconv.Itoa(target), "-store", store, "-records", strconv.Itoa(records)}, args...)...)
	var out, complaints bytes.Buffer
	c.Stdout, c.Stderr = &out, &complaints
	seen, err := sample(t, c, target)
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, &complaints)
	}
	if err := json.Unmarshal(out.Bytes(), &f); err != nil {
		t.Fatalf("%v: %s", err, &out)
	}
	f.peak = seen
	return f
}
