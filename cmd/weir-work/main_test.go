//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/handover"
	"github.com/weir-go/weir/internal/locked"
	"github.com/weir-go/weir/internal/longtest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/pool/natspool"
)

// TestMain is the program itself where this one was started as its guard, or by weir.
func TestMain(m *testing.M) {
	if os.Getenv(handover.Variable) != "" || len(os.Args) == 2 && os.Args[1] == asGuard {
		main()
		return
	}
	os.Exit(m.Run())
}

// said runs a request, and returns its output.
func said(t *testing.T, r handover.Request, in string) string {
	t.Helper()
	var out bytes.Buffer
	if err := run(nil, encoded(t, r), streams{strings.NewReader(in), &out, &out}); err != nil {
		t.Fatalf("%v; printed %s", err, &out)
	}
	return out.String()
}

func encoded(t *testing.T, r handover.Request) string {
	t.Helper()
	text := must.Have(r.Encode())(t)
	return strings.TrimPrefix(text, handover.Variable+"=")
}

func folder(t *testing.T) handover.Queue {
	t.Helper()
	return handover.Queue{Stream: "orders", Embedded: filepath.Join(t.TempDir(), "q")}
}

// script is a worker that runs a shell script for each job.
func script(at handover.Queue, text string) *handover.Work {
	return &handover.Work{
		Queue: at, Max: 20, Timeout: time.Minute, Grace: 50 * time.Millisecond, Attempts: 10, Backoff: 10 * time.Millisecond,
		Command: []string{"sh", "-c", text},
	}
}

// A started worker runs in this process.
type started struct {
	signals    chan os.Signal
	ended      chan error
	out, notes locked.Buffer
}

func begin(t *testing.T, work *handover.Work) *started {
	t.Helper()
	w := &started{signals: make(chan os.Signal), ended: make(chan error, 1)}
	asked := encoded(t, handover.Request{Work: work})
	go func() { w.ended <- run(w.signals, asked, streams{nil, &w.out, &w.notes}) }()
	return w
}

// stop waits until the worker has ended its jobs.
func (w *started) stop(t *testing.T) {
	t.Helper()
	w.signals <- os.Interrupt
	must.Do(t, <-w.ended)
}

// firstEvents returns a dashboard's events until those of the first reading.
func firstEvents(t *testing.T, address string) (text string) {
	t.Helper()
	answer := must.Have(http.Get(address + "events"))(t)
	defer answer.Body.Close()
	for lines := bufio.NewScanner(answer.Body); !strings.Contains(text, "event: details") && lines.Scan(); {
		text += lines.Text() + "\n"
	}
	return text
}

// TestJobs takes jobs through their life: added, done, rejected, tried again.
func TestJobs(t *testing.T) {
	at := folder(t)
	for in, r := range map[string]*handover.Enqueue{
		"one\r\n\r\n\ntwo\nbad": {Queue: at, Lines: true},
		"three\n":               {Queue: at},
		"":                      {Queue: at, Payload: []string{"four", "five"}},
	} {
		if got := said(t, handover.Request{Enqueue: r}, in); !strings.HasSuffix(got, " added to orders in "+at.Embedded+"\n") {
			t.Error(got)
		}
	}
	jobs := handover.Request{Jobs: &handover.Jobs{Queue: at, Limit: 10}}
	if got := said(t, jobs, ""); !strings.Contains(got, "\n6 waiting, 0 running or resting before another attempt, 0 dead letters\n") {
		t.Error(got)
	}

	dir := t.TempDir()
	work := script(at, `cd `+dir+`; read job; case $job in bad) echo no such customer; [ -e good ] || exit 65;; four) echo soon; [ $WEIR_JOB_ATTEMPT = 2 ] || exit 1;; esac; : >"done-$job"`)
	work.Open = true
	t.Setenv("BROWSER", "true")
	w := begin(t, work)
	done := func() string {
		all := must.Have(filepath.Glob(dir + "/done-*"))(t)
		for i := range all {
			all[i] = strings.TrimPrefix(all[i], dir+"/done-")
		}
		return strings.Join(all, " ")
	}
	const idle = "\n0 waiting, 0 running or resting before another attempt, "
	must.Happen(t, "all but the bad job are done", func() bool {
		return done() == "five four one three two" && strings.Contains(said(t, jobs, ""), idle+"1 dead letter\n")
	})
	letters := said(t, jobs, "")
	if !regexp.MustCompile(`\nletter +job +rejected +reason\n1 +"\w{26}" +2\S+Z +exit status 65: no such customer\n$`).MatchString(letters) {
		t.Error(letters)
	}
	must.Do(t, os.WriteFile(dir+"/good", nil, 0o600))
	if got := said(t, handover.Request{Requeue: &handover.Requeue{Queue: at, ID: []uint64{1}}}, ""); got != "1 dead letter requeued\n" {
		t.Error(got)
	}
	must.Happen(t, "the bad job is done", func() bool {
		return done() == "bad five four one three two" && strings.Contains(said(t, jobs, ""), idle+"0 dead letters\n")
	})
	address := regexp.MustCompile(`weir: the dashboard is on (http://127\.0\.0\.1:\d+/)`).FindStringSubmatch(w.notes.String())
	if address == nil {
		t.Fatalf("no dashboard in %s", &w.notes)
	}
	if first := firstEvents(t, address[1]); !strings.Contains(first, `"name":"orders"`) || !strings.Contains(first, `["completed","6"]`) {
		t.Errorf("the dashboard shows %s", first)
	}
	w.stop(t)
	if got := w.out.String(); !strings.Contains(got, "; done 6, failed 2, dead letters 1\n") {
		t.Error(got)
	}
	for _, want := range []string{"attempt 1, is a dead letter: exit status 65: no such customer\n", "attempt 1, exit status 1: soon\n"} {
		if !strings.Contains(w.notes.String(), want) {
			t.Errorf("no %q in %s", want, &w.notes)
		}
	}
}

// A terminal is an input without an end. Its user types a text, and then interrupts the command.
type terminal struct {
	signals chan os.Signal
	typed   string
}

func (i *terminal) Read(p []byte) (int, error) {
	if i.typed != "" {
		n := copy(p, i.typed)
		i.typed = i.typed[n:]
		return n, nil
	}
	i.signals <- os.Interrupt
	select {}
}

// TestInterruptWhileReading: jobs are added until then, and no part of a line is one.
func TestInterruptWhileReading(t *testing.T) {
	for _, lines := range []bool{false, true} {
		at := folder(t)
		in, out := &terminal{make(chan os.Signal), "part of a line"}, new(locked.Buffer)
		asked := encoded(t, handover.Request{Enqueue: &handover.Enqueue{Queue: at, Lines: lines}})
		if err := run(in.signals, asked, streams{in, out, out}); !errors.Is(err, errInterrupted) {
			t.Errorf("%v, want %v", err, errInterrupted)
		}
		if got := out.String(); !strings.HasPrefix(got, "0 jobs added") {
			t.Error(got)
		}
	}
}

// TestEndlessInput: it must not take all memory.
func TestEndlessInput(t *testing.T) {
	at := folder(t)
	for _, lines := range []bool{false, true} {
		in, out := io.MultiReader(strings.NewReader("one\n"), endless{}), new(locked.Buffer)
		asked := encoded(t, handover.Request{Enqueue: &handover.Enqueue{Queue: at, Lines: lines}})
		want := map[bool]string{false: "the standard input has more than 67108864 bytes", true: "line 2 has more than 67108864 bytes"}[lines]
		if err := run(nil, asked, streams{in, out, out}); !errors.As(err, new(usageError)) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// TestLongID: the sender of a job chooses its ID, which must not fill the screen.
func TestLongID(t *testing.T) {
	at := folder(t)
	local := must.Have(natspool.Open(t.Context(), at.Embedded))(t)
	q := must.Have(natspool.New(t.Context(), local.JetStream(), natspool.Config{Stream: at.Stream}))(t)
	must.Do(t, q.Add(t.Context(), strings.Repeat("x", 60_000), nil))
	must.Do(t, local.Close())
	w := begin(t, script(at, "true"))
	jobs := handover.Request{Jobs: &handover.Jobs{Queue: at, Limit: 10}}
	must.Happen(t, "the job is a dead letter", func() bool { return strings.Contains(w.notes.String(), " is a dead letter: ") })
	if got := said(t, jobs, ""); !strings.Contains(got, `"xxx`) || !strings.Contains(got, " 1 dead letter\n") || len(got) > 1000 {
		t.Errorf("%d bytes: %.1000s", len(got), got)
	}
	w.stop(t)
}

// TestSecondSignal: it ends the jobs, and they come back.
func TestSecondSignal(t *testing.T) {
	at := folder(t)
	prepare(t, at, time.Second)
	said(t, handover.Request{Enqueue: &handover.Enqueue{Queue: at, Payload: []string{"a", "b"}}}, "")
	dir := t.TempDir()
	work := script(at, `: >`+dir+`/$WEIR_JOB_ID-$WEIR_JOB_ATTEMPT; exec sleep 60`)
	w := begin(t, work)
	must.Happen(t, "both run", func() bool { all, _ := filepath.Glob(dir + "/*-1"); return len(all) == 2 })
	w.signals <- os.Interrupt
	w.signals <- os.Interrupt
	if err := <-w.ended; !errors.Is(err, errStopped) {
		t.Errorf("%v, want %v", err, errStopped)
	}
	work.Command[2] = `: >` + dir + `/$WEIR_JOB_ID-again`
	again := begin(t, work)
	must.Happen(t, "both run again", func() bool { all, _ := filepath.Glob(dir + "/*-again"); return len(all) == 2 })
	again.stop(t)
}

func TestBadInput(t *testing.T) {
	at := folder(t)
	prepare(t, at, time.Second)
	for want, asked := range map[string]string{
		"WEIR_REQUEST: unexpected end of JSON input: weir starts this program": "",
		"nothing was asked": "{}",

		`exec: "/no/such": stat /no/such: no such file or directory: want a command that can be run`: encoded(t, handover.Request{Work: &handover.Work{Queue: at, Max: 1, Command: []string{"/no/such"}}}),

		"capacity: ": encoded(t, handover.Request{Work: &handover.Work{Queue: at, Command: []string{"sh"}}}),

		"--nats: ":                  encoded(t, handover.Request{Jobs: &handover.Jobs{Queue: handover.Queue{Stream: "a", Nats: "nats://127.0.0.1:1"}}}),
		`natspool: Stream is "a b"`: encoded(t, handover.Request{Jobs: &handover.Jobs{Queue: handover.Queue{Stream: "a b", Embedded: at.Embedded}}}),
		"maximum payload exceeded: it has 2000000 bytes, want at most 1048523": encoded(t, handover.Request{Enqueue: &handover.Enqueue{Queue: at, Payload: []string{strings.Repeat("x", 2_000_000)}}}),
		"0 dead letters requeued, then: natspool: dead letter 7 of orders":     encoded(t, handover.Request{Requeue: &handover.Requeue{Queue: at, ID: []uint64{7}}}),

		"there is no stream gone in " + at.Embedded: encoded(t, handover.Request{Jobs: &handover.Jobs{Queue: handover.Queue{Stream: "gone", Embedded: at.Embedded}}}),
		"there is no folder " + at.Embedded + "x":   encoded(t, handover.Request{Requeue: &handover.Requeue{Queue: handover.Queue{Stream: "gone", Embedded: at.Embedded + "x"}, All: true}}),
		"the standard input is empty: want":         encoded(t, handover.Request{Enqueue: &handover.Enqueue{Queue: at}}),
	} {
		if err := run(nil, asked, streams{strings.NewReader(""), new(locked.Buffer), new(locked.Buffer)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	wrong := encoded(t, handover.Request{Jobs: &handover.Jobs{Queue: handover.Queue{Stream: "a b", Embedded: at.Embedded}}})
	if status := exitStatus(run(nil, wrong, streams{nil, new(locked.Buffer), new(locked.Buffer)}), new(locked.Buffer)); status != 2 {
		t.Errorf("status %d for a stream that cannot be, want 2", status)
	}
	closed := must.Have(os.Open(os.DevNull))(t)
	must.Do(t, closed.Close())
	if err := run(nil, encoded(t, handover.Request{Jobs: &handover.Jobs{Queue: at}}), streams{nil, closed, closed}); !errors.Is(err, os.ErrClosed) {
		t.Errorf("%v for an output that cannot be written", err)
	}
	signals := make(chan os.Signal, 1)
	signals <- os.Interrupt
	if status := exitStatus(run(signals, encoded(t, handover.Request{Enqueue: &handover.Enqueue{Queue: at}}), streams{&terminal{make(chan os.Signal), ""}, new(locked.Buffer), new(locked.Buffer)}), new(locked.Buffer)); status != 130 {
		t.Errorf("status %d for an interrupted command, want 130", status)
	}
}

func TestServerOfTheEnvironment(t *testing.T) {
	at := folder(t)
	t.Setenv(variable, "nats://127.0.0.1:1")
	said(t, handover.Request{Enqueue: &handover.Enqueue{Queue: at, Payload: []string{"in the folder"}}}, "")
	asked := encoded(t, handover.Request{Jobs: &handover.Jobs{Queue: handover.Queue{Stream: "orders"}}})
	if err := run(nil, asked, streams{}); err == nil || !strings.HasPrefix(err.Error(), "--nats: ") {
		t.Errorf("%v, want that the server does not run", err)
	}
}

// TestJobThatKillsItsWorker: it is a dead letter once it has had its attempts, also one of the
// largest size, and other jobs get through.
func TestJobThatKillsItsWorker(t *testing.T) {
	longtest.Skip(t)
	at := folder(t)
	prepare(t, at, time.Second)
	said(t, handover.Request{Enqueue: &handover.Enqueue{Queue: at, Payload: []string{"evil\n" + strings.Repeat("x", 1<<20-58), "good"}}}, "")
	work := script(at, `read job; [ $job = good ] || kill -9 $PPID`) // reads no more of it
	work.Attempts = 2
	for range work.Attempts {
		if err := start(t, work).Wait(); err == nil || err.Error() != "signal: killed" {
			t.Fatalf("the worker ended with %v", err)
		}
	}
	w := begin(t, work)
	must.Happen(t, "a dead letter", func() bool {
		return strings.Contains(w.notes.String(), " is a dead letter: pool: delivered too often: for the time 3, where MaxAttempts is 2\n")
	})
	w.stop(t)
}

// prepare makes the stream with a short lease.
func prepare(t *testing.T, at handover.Queue, lease time.Duration) {
	t.Helper()
	local := must.Have(natspool.Open(t.Context(), at.Embedded))(t)
	must.Have(natspool.New(t.Context(), local.JetStream(), natspool.Config{Stream: at.Stream, Lease: lease}))(t)
	must.Do(t, local.Close())
}

// start starts a worker as a process.
func start(t *testing.T, work *handover.Work) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(context.Background(), os.Args[0]) //nolint:gosec // this program
	cmd.Env = append(os.Environ(), handover.Variable+"="+encoded(t, handover.Request{Work: work}))
	cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
	must.Do(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd
}

// gone reports whether a process has ended, also if its parent has not heard of it.
func gone(pid string) bool {
	n, err := strconv.Atoi(pid)
	if err != nil || syscall.Kill(n, 0) != nil {
		return true
	}
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	return err == nil && strings.Contains(string(stat), ") Z ")
}
