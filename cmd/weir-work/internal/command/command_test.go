//go:build unix

package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/longtest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/pool"
)

// The roles of this program, which it starts again as a guard, and as a worker to be killed.
const (
	asGuard  = "be-the-guard"
	asWorker = "be-a-worker"
)

func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 1 && os.Args[1] == asGuard:
		Watch(os.Stdin)
	case len(os.Args) > 2 && os.Args[1] == asWorker:
		guard, err := StartGuard(asGuard)
		if err != nil {
			panic(err)
		}
		_ = shell(os.Args[2], func(c *Command) { c.Guard = guard }).Run(context.Background(), Job{})
	default:
		os.Exit(m.Run())
	}
}

// shell is a command that runs a script.
func shell(script string, change ...func(*Command)) *Command {
	c := &Command{Args: []string{"sh", "-c", script}, Grace: 50 * time.Millisecond}
	for _, f := range change {
		f(c)
	}
	return c
}

func TestPayloadAndEnvironment(t *testing.T) {
	t.Setenv("WEIR_JOB_SECRET", "no")
	t.Setenv("WEIR_NATS", "no")
	t.Setenv("PLAIN", "yes")
	file := filepath.Join(t.TempDir(), "seen")
	payload := bytes.Repeat([]byte("a line\n"), 1<<17) // more than any pipe holds
	must.Do(t, shell(`(env | grep -E "^(WEIR|PLAIN)" | sort; cat) >`+file).Run(t.Context(), Job{"7\x00\nPATH=/evil", 3, payload}))
	seen := must.Have(os.ReadFile(file))(t)
	env, rest, _ := strings.Cut(string(seen), "a line\n")
	if rest != string(payload[len("a line\n"):]) {
		t.Errorf("%d bytes of the payload, want %d", len(rest), len(payload))
	}
	if want := "PLAIN=yes\nWEIR_JOB_ATTEMPT=3\nWEIR_JOB_ID=7\n"; env != want {
		t.Errorf("environment %q, want %q", env, want)
	}
}

func TestEnds(t *testing.T) {
	for script, want := range map[string]string{
		"exit 0":                 "",
		"exit 1":                 "exit status 1",
		"echo bad; exit 65":      "permanent: exit status 65: bad",
		"kill -9 $$":             "signal: killed",
		"exec sleep 60":          "not done after 300ms, the time limit",
		"trap '' TERM; sleep 60": "not done after 300ms, the time limit",
		"trap 'exit 0' TERM; read x; while :; do sleep 60 & wait; done": "not done after 300ms, the time limit",
		"sleep 60 & exit 0":                 "", // what it leaves behind ends with it
		"(trap '' TERM; sleep 60) & exit 3": "exit status 3",
		"exec <&-; sleep 0.01":              "", // reads nothing
		"head -c 9 >/dev/null":              "", // and not all

		`printf '1\n\n2\033[2J\n3\n4\n5\n6\n'; echo err >&2; exit 1`: "exit status 1: 3 | 4 | 5 | 6 | err",
		`printf '\033]0;x\007\377'; exit 1`:                          "exit status 1: ?]0;x??",
	} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			began, timeout := time.Now(), time.Minute
			if strings.Contains(want, "limit") {
				timeout = 300 * time.Millisecond
			}
			err := shell(script, func(c *Command) { c.Timeout = timeout }).
				Run(t.Context(), Job{Payload: bytes.Repeat([]byte("x"), 1<<20)})
			got := fmt.Sprint(err)
			switch {
			case err == nil:
				got = ""
			case fmt.Sprintf("%T", err) == fmt.Sprintf("%T", pool.Permanent(err)):
				got = "permanent: " + got
			}
			if got != want {
				t.Errorf("%q, want %q", got, want)
			}
			if limit := strings.Contains(want, "limit"); errors.Is(err, context.DeadlineExceeded) != limit {
				t.Errorf("a deadline that is exceeded: %v, want %v", !limit, limit)
			}
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

// TestGrace: a group has time to clean up, of which its leader may take less than its child.
func TestGrace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "clean")
	script := `trap 'exit 1' TERM; sh -c "trap 'sleep 0.2; echo >` + file + `; exit' TERM; echo >` + file + `.up; while :; do sleep 0.01; done" & wait`
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- shell(script, func(c *Command) { c.Grace = time.Minute }).Run(ctx, Job{}) }()
	must.Happen(t, "the command runs", func() bool { _, err := os.Stat(file + ".up"); return err == nil })
	why := errors.New("the worker stops")
	cancel(why)
	if err := <-ended; !errors.Is(err, why) {
		t.Errorf("%v, want %v", err, why)
	}
	if _, err := os.Stat(file); err != nil {
		t.Error("the child was killed before it had cleaned up")
	}
}

func TestOutputIsBounded(t *testing.T) {
	size := 100_000_000
	if longtest.All() {
		size *= 10
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := shell(fmt.Sprintf("head -c %d /dev/zero; echo; echo the end; exit 1", size)).Run(t.Context(), Job{})
	runtime.ReadMemStats(&after)
	if want := "exit status 1: " + strings.Repeat("?", longLine) + "... | the end"; err.Error() != want {
		t.Errorf("%.300q", err)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 1<<20 {
		t.Errorf("%d bytes of output took %d", size, grown)
	}
}

// TestProcessThatLeavesItsGroup: it is out of reach, but the output that it holds delays no job.
func TestProcessThatLeavesItsGroup(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	before := runtime.NumGoroutine()
	err := shell("exec 3<&0; setsid sh -c 'echo $$ >"+file+".new; mv "+file+".new "+file+"; exec sleep 60' <&3 & while ! [ -e "+file+" ]; do :; done; exit 1").
		Run(t.Context(), Job{Payload: bytes.Repeat([]byte("x"), 1<<20)})
	if err == nil || err.Error() != "exit status 1" {
		t.Errorf("%v", err)
	}
	must.Happen(t, "the goroutines have ended", func() bool { return runtime.NumGoroutine() <= before }) // also the one that writes the payload
	_ = syscall.Kill(number(t, file), syscall.SIGKILL)
}

func TestCommandThatCannotStart(t *testing.T) {
	err := (&Command{Args: []string{"/no/such"}}).Run(t.Context(), Job{})
	if !errors.Is(err, ErrStart) || !strings.HasPrefix(err.Error(), "the command cannot be started: fork/exec /no/such: no such file") {
		t.Errorf("%v", err)
	}
	err = shell("exit 0").Run(t.Context(), Job{ID: strings.Repeat("x", 200_000)}) // the fault of the job
	if want := "the identifier of the job has 200000 bytes: want at most 16384"; err == nil || err.Error() != want || errors.Is(err, ErrStart) {
		t.Errorf("%v, want %s", err, want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := shell("exit 0").Run(ctx, Job{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestWorkerIsKilled: with it die the command and the processes that the command has started,
// also those that ignore signals.
func TestWorkerIsKilled(t *testing.T) {
	dir := t.TempDir()
	// The payload ends once the guard knows the command.
	script := "cat >/dev/null; trap '' TERM; cd " + dir + "; sh -c 'echo $$ >child; exec sleep 60' & echo $$ >leader; wait; sleep 60"
	self := must.Have(os.Executable())(t)
	worker := must.Have(os.StartProcess(self, []string{self, asWorker, script}, new(os.ProcAttr)))(t)
	leader, child := filepath.Join(dir, "leader"), filepath.Join(dir, "child")
	must.Happen(t, "both have written", func() bool { return written(leader) && written(child) })
	must.Do(t, worker.Kill())
	must.Have(worker.Wait())(t)
	for _, file := range []string{leader, child} {
		must.Happen(t, "it has ended", func() bool { return gone(number(t, file)) })
	}
}

func TestGuardThatIsGone(t *testing.T) {
	guard := must.Have(StartGuard(asGuard))(t)
	must.Do(t, guard.cmd.Process.Kill())
	_ = guard.cmd.Wait()
	err := shell("sleep 60", func(c *Command) { c.Guard = guard }).Run(t.Context(), Job{})
	if !errors.Is(err, ErrStart) || !strings.HasSuffix(err.Error(), "the guard of the commands has ended: write |1: file already closed") {
		t.Errorf("%v", err)
	}
}

func TestGuardEndsWithoutWork(t *testing.T) {
	guard := must.Have(StartGuard(asGuard))(t)
	must.Do(t, shell("exit 0", func(c *Command) { c.Guard = guard }).Run(t.Context(), Job{}))
	must.Do(t, guard.Close())
}

func written(file string) bool {
	text, err := os.ReadFile(file)
	return err == nil && strings.HasSuffix(string(text), "\n")
}

func number(t *testing.T, file string) int {
	t.Helper()
	text := must.Have(os.ReadFile(file))(t)
	return must.Have(strconv.Atoi(strings.TrimSpace(string(text))))(t)
}

// gone reports whether a process has ended, also if its parent has not heard of it.
func gone(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return true
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(stat), ") Z ")
}
