// Package importtest is shared by the tests of imports: it runs processes and measures their
// memory, kills processes, reads journals, and mounts small disks.
package importtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/pages"
)

// A Peak holds the measured memory of a process.
type Peak struct {
	Anonymous, Resident float64 // at most, in MiB
	Above               float64 // share of samples with resident memory above the target
}

// Run runs a command and compares its memory with a target in MiB.
func Run(t *testing.T, c *exec.Cmd, target int) (Peak, error) {
	t.Helper()
	must.Do(t, c.Start())
	ended, seen := make(chan struct{}), make(chan Peak, 1)
	go func() { seen <- Watch(c.Process.Pid, target, ended) }()
	err := c.Wait()
	close(ended)
	return <-seen, err
}

// Watch samples the memory of a process every 50 ms until it has ended, and compares it with
// a target in MiB.
func Watch(pid, target int, ended <-chan struct{}) (p Peak) {
	samples, above := 0, 0
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			p.Above = float64(above) / float64(max(samples, 1))
			return p
		case <-tick.C:
		}
		anonymous, all, err := pages.Resident(os.DirFS("/"), strconv.Itoa(pid))
		if err != nil {
			continue // it has ended
		}
		resident := float64(all) / (1 << 20)
		p.Anonymous, p.Resident = max(p.Anonymous, float64(anonymous)/(1<<20)), max(p.Resident, resident)
		if samples++; resident > float64(target) {
			above++
		}
	}
}

// Kill starts a command, kills it after a while, and returns its standard error.
func Kill(t *testing.T, c *exec.Cmd, after time.Duration) (complaints string) {
	t.Helper()
	var text bytes.Buffer
	c.Stderr = &text
	must.Do(t, c.Start())
	<-time.After(after)
	must.Do(t, c.Process.Kill())
	_ = c.Wait() // killed
	return text.String()
}

// Acknowledged returns the number of lines that the journal of an import counts.
func Acknowledged(t *testing.T, journal string) int {
	t.Helper()
	text, err := os.ReadFile(journal)
	if os.IsNotExist(err) || err == nil && len(text) == 0 {
		return 0 // the import was killed before it wrote the journal
	}
	must.Do(t, err)
	var state struct{ Lines int }
	must.Do(t, json.Unmarshal(text, &state))
	return state.Lines
}

// SmallDisk mounts a file system of the given MiB in memory for the duration of the test.
func SmallDisk(t *testing.T, size int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%dm", size), "weir-test", dir).CombinedOutput(); err != nil {
		t.Skipf("needs to mount a file system: %v: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	})
	return dir
}
