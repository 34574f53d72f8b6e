package natspool_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir/capacity"
	"github.com/weir-go/weir/internal/longtest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/pool"
	"github.com/weir-go/weir/pool/natspool"
)

var kills = flag.Int("kills", 3, "how often TestKilledWorker kills one")

// The environment of a process that is a worker: the folder of its queue, and whether it ends its
// jobs.
const (
	workerDir    = "NATSPOOL_WORKER"
	workerFinish = "NATSPOOL_FINISH"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(serverDir); dir != "" {
		hold(dir)
	}
	if dir := os.Getenv(workerDir); dir != "" {
		work(dir, os.Getenv(workerFinish) != "")
	}
	os.Exit(m.Run())
}

const (
	held      = 1000 // jobs that run until their worker is killed, and slots of a worker
	quick     = 2000 // jobs that end at once
	killLease = 3 * time.Second
)

// work runs jobs, and prints a line for each one that starts and each one that was acknowledged.
func work(dir string, finish bool) {
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	local, err := natspool.Open(context.Background(), dir)
	check(err)
	q, err := natspool.New(context.Background(), local.JetStream(), natspool.Config{Stream: "mail"})
	check(err)
	c, err := capacity.New(capacity.Vector{"slots": held})
	check(err)
	p, err := pool.New(pool.Config{Capacity: c, Lookahead: held, Source: q.Source(func(j natspool.Job) pool.Task {
		return pool.Task{Key: j.ID, Run: func(ctx context.Context) (any, error) {
			fmt.Printf("run %s\n", j.ID)
			if strings.HasPrefix(j.ID, "held") && !finish {
				<-ctx.Done()
			}
			return nil, ctx.Err()
		}}
	})})
	check(err)
	for ev, err := range p.Run(context.Background()) {
		check(err)
		if ev.Kind == pool.Done && ev.Err == nil {
			fmt.Printf("ack %s\n", ev.Key)
		}
	}
}

// A witness knows the fate of the jobs from the output of workers.
type witness struct {
	*testing.T
	ran          map[string]bool
	acknowledged map[string]bool
	running      map[string]bool // held jobs of the worker that runs
	killed       time.Time       // when the worker before it was
	orphans      map[string]bool // held jobs of that one that did not run again yet
	latest       time.Duration   // the longest delay until one did
}

// see reads a line.
func (w *witness) see(line string) {
	word, id, _ := strings.Cut(line, " ")
	switch word {
	case "run":
		if w.acknowledged[id] {
			w.Errorf("job %s was acknowledged, and runs again", id)
		}
		if w.orphans[id] {
			w.latest = max(w.latest, time.Since(w.killed))
			delete(w.orphans, id)
		}
		w.ran[id] = true
		if strings.HasPrefix(id, "held") { // others may be acknowledged before they say so
			w.running[id] = true
		}
	case "ack":
		w.acknowledged[id] = true
		delete(w.running, id)
	default:
		w.Log(line)
	}
}

// watch starts a worker, and kills it once the function says so.
func (w *witness) watch(dir string, finish bool, enough func() bool) {
	cmd := exec.Command(os.Args[0]) //nolint:gosec // this test
	cmd.Env = append(os.Environ(), workerDir+"="+dir)
	if finish {
		cmd.Env = append(cmd.Env, workerFinish+"=yes")
	}
	cmd.Stderr = os.Stderr
	out := must.Have(cmd.StdoutPipe())(w)
	must.Do(w, cmd.Start())
	lines := bufio.NewReader(out)
	for !enough() {
		line, err := lines.ReadString('\n')
		if err != nil {
			w.Fatalf("the worker ended: %v", err)
		}
		w.see(strings.TrimSuffix(line, "\n"))
	}
	_ = cmd.Process.Kill()
	w.killed = time.Now()
	for { // it may have done more than was read
		line, err := lines.ReadString('\n')
		if err == io.EOF {
			break
		}
		w.see(strings.TrimSuffix(line, "\n"))
	}
	_ = cmd.Wait() // it was killed
	w.orphans, w.running = w.running, map[string]bool{}
}

// TestKilledWorker kills workers with 1,000 jobs in flight. No job is lost, no acknowledged one
// runs again, and the others run again when their lease is over.
//
//	scripts/all go test ./pool/natspool -run KilledWorker -v -kills 20
func TestKilledWorker(t *testing.T) {
	longtest.Skip(t)
	dir := t.TempDir()
	q := queue(t, local(t, dir), natspool.Config{Stream: "mail", Lease: killLease})
	for i := range quick {
		if i < held {
			add(t, q, fmt.Sprint("held-", i))
		}
		add(t, q, fmt.Sprint("quick-", i))
	}
	w := &witness{T: t, ran: map[string]bool{}, acknowledged: map[string]bool{}, running: map[string]bool{}}
	for range *kills {
		w.watch(dir, false, func() bool { return len(w.running) == held && len(w.orphans) == 0 })
	}
	w.watch(dir, true, func() bool {
		return len(w.ran) == held+quick && len(w.running) == 0 && snapshot(t, q) == natspool.Snapshot{}
	})
	if w.latest > 2*killLease { // the second is for a busy machine
		t.Errorf("a job ran again after %v, with a lease of %v", w.latest, killLease)
	}
	t.Logf("%d kills with %d jobs in flight: 0 lost, 0 run again although acknowledged, "+
		"the latest runs again after %v, with a lease of %v", *kills, held, w.latest.Round(time.Millisecond), killLease)
}
