package proxytest

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/pages"
)

// A process runs until the test ends, or until it is stopped.
type process struct {
	name string
	cmd  *exec.Cmd

	exited chan struct{}
	output output
}

// startTimeout is how long a process may take to start or stop on a busy machine.
const startTimeout = 30 * time.Second

func start(t testing.TB, name, program string, args ...string) *process {
	t.Helper()
	p := &process{name: name, cmd: exec.Command(program, args...), exited: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = &p.output, &p.output
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt goes to the test, which then stops the process
	must.Do(t, p.cmd.Start())
	go func() { _ = p.cmd.Wait(); close(p.exited) }()
	t.Cleanup(func() {
		p.stop(t)
		if t.Failed() {
			t.Logf("%s said:\n%s", name, p.output.tail())
		}
	})
	return p
}

func (p *process) await(t testing.TB, url string) {
	t.Helper()
	client := http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	for deadline := time.Now().Add(startTimeout); ; pause(20 * time.Millisecond) {
		answer, err := client.Get(url)
		if err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return
			}
			err = fmt.Errorf("status %d", answer.StatusCode)
		}
		select {
		case <-p.exited:
			t.Fatalf("%s ended: %v\n%s", p.name, p.cmd.ProcessState, p.output.tail())
		default:
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s does not answer %s: %v\n%s", p.name, url, err, p.output.tail())
		}
	}
}

// stop asks the process to end, and kills it if it does not.
func (p *process) stop(t testing.TB) {
	t.Helper()
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // fails if it has ended, which is fine
	select {
	case <-p.exited:
	case <-time.After(startTimeout):
		t.Errorf("%s does not end on SIGTERM", p.name)
		p.kill()
	}
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill() // fails if it has ended, which is fine
	<-p.exited
}

func (p *process) signal(t testing.TB, what syscall.Signal) {
	t.Helper()
	must.Do(t, p.cmd.Process.Signal(what))
}

// family returns the process and its descendants: nginx works in processes of its own.
func (p *process) family() []int {
	pids := []int{p.cmd.Process.Pid}
	for i := 0; i < len(pids); i++ {
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pids[i]))
		for _, task := range tasks {
			children, _ := os.ReadFile(task) // a process that has just ended has no file
			for child := range strings.FieldsSeq(string(children)) {
				if pid, err := strconv.Atoi(child); err == nil {
					pids = append(pids, pid)
				}
			}
		}
	}
	return pids
}

// tick is the unit of /proc/PID/stat: USER_HZ, 100 on every Linux that Go runs on.
const tick = 10 * time.Millisecond

func (p *process) cpu(t testing.TB) (used time.Duration) {
	t.Helper()
	for _, pid := range p.family() {
		stat := must.Have(os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)))(t)
		// The name of the program is in parentheses and may have blanks. utime and stime are
		// the 14th and 15th field of the line.
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		for _, field := range fields[11:13] {
			used += time.Duration(must.Have(strconv.Atoi(field))(t)) * tick
		}
	}
	return used
}

func (p *process) memory(t testing.TB) (resident int64) {
	t.Helper()
	for _, pid := range p.family() {
		_, all, err := pages.Resident(os.DirFS("/"), strconv.Itoa(pid))
		must.Do(t, err)
		resident += int64(all)
	}
	return resident
}

// files is the number of files and connections that the process has open.
func (p *process) files(t testing.TB) int {
	t.Helper()
	return len(must.Have(os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.cmd.Process.Pid)))(t))
}

type output struct {
	mu   sync.Mutex
	text []byte
}

// keptOutput is enough for a stack trace.
const keptOutput = 64 << 10

// Write implements [io.Writer].
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text = append(o.text, p...)
	if len(o.text) > 2*keptOutput {
		o.text = bytes.Clone(o.text[len(o.text)-keptOutput:])
	}
	return len(p), nil
}

func (o *output) tail() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return string(o.text[max(0, len(o.text)-keptOutput):])
}

// ours are the programs built from this repository.
var ours = map[string]string{
	"weir":     "github.com/weir-go/weir/cmd/weir",
	"upstream": "github.com/weir-go/weir/internal/proxytest/upstream",
	"plain":    "github.com/weir-go/weir/internal/proxytest/plain",
}

// built holds the path of each of our programs. They are built once, on first use.
var built = sync.OnceValues(func() (map[string]string, error) {
	dir, err := os.MkdirTemp("", "weir-proxytest-")
	if err != nil {
		return nil, err
	}
	paths := map[string]string{}
	for name, from := range ours {
		paths[name] = filepath.Join(dir, name)
		if text, err := exec.Command("go", "build", "-o", paths[name], from).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("go build %s: %w\n%s", from, err, text)
		}
	}
	return paths, nil
})

func removeBuilt() {
	if paths, err := built(); err == nil {
		_ = os.RemoveAll(filepath.Dir(paths["weir"])) // the system also empties its folder of temporary files
	}
}

func program(t testing.TB, name string) string {
	t.Helper()
	paths := must.Have(built())(t)
	return paths[name]
}

// installed is the path of an installed program. Debian keeps servers off the path of users.
func installed(t testing.TB, name string) string {
	t.Helper()
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	path := filepath.Join("/usr/sbin", name)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%s is missing: run scripts/proxies install", name)
	}
	return path
}

func root() string {
	_, here, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(here), "..", "..")
}
