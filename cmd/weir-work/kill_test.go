//go:build unix

package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weir-go/weir/internal/handover"
	"github.com/weir-go/weir/internal/longtest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/pool/natspool"
)

var (
	kills   = flag.Int("kills", 4, "how often TestWorkersAreKilled kills all workers")
	workers = flag.Int("workers", 1, "how many workers it has at once")
	flight  = flag.Int("flight", 0, "how many jobs are in flight at least at each kill")
)

// A ledger is where the commands of jobs note that they begin and that they end.
type ledger struct {
	*testing.T
	dir string
}

func (l ledger) of(file string) []string {
	l.Helper()
	text, err := os.ReadFile(filepath.Join(l.dir, file))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		l.Fatal(err)
	}
	return strings.Fields(string(text))
}

func (l ledger) done() int {
	all := l.of("done")
	slices.Sort(all)
	return len(slices.Compact(all))
}

// TestWorkersAreKilled: no job is lost, and none that the stream has forgotten runs again, though
// the server is killed with its worker. The processes of the jobs die with their worker.
//
//	scripts/all go test ./cmd/weir-work -run WorkersAreKilled -v -workers 4 -flight 1000 -kills 20
func TestWorkersAreKilled(t *testing.T) {
	longtest.Skip(t)
	jobs, nap := 1000, "0.1"
	if *flight > 0 {
		jobs, nap = jobs+3**flight**kills, "10"
	}
	at := folder(t)
	prepare(t, at, 5*time.Second)
	said(t, handover.Request{Enqueue: &handover.Enqueue{Queue: at, Lines: true}}, numbers(jobs))
	l := ledger{t, t.TempDir()}
	work := script(at, `read job; sh -c "echo \$\$ >>`+l.dir+`/pids; exec sleep `+nap+`"; echo $job >>`+l.dir+`/done`)
	work.Max, work.Attempts = max(50, *flight), 1000

	acknowledged := make([][]string, *kills) // before each kill
	ends := make([]int, *kills)              // how many had run to their end
	begun := 0                               // by then
	for kill := range *kills {
		var all []*exec.Cmd
		for range *workers {
			all = append(all, start(t, work))
		}
		ended := len(l.of("done"))
		running := func() int { return len(l.of("pids")) - begun - len(l.of("done")) + ended }
		eventually(t, "some are done, and many run", func() bool {
			return l.done() >= (kill+1)*jobs/(*kills+1) && running() >= *flight
		})
		acknowledged[kill] = forgotten(t, at, jobs)
		t.Logf("%d in flight", running())
		for _, worker := range all {
			must.Do(t, worker.Process.Kill())
		}
		for _, worker := range all {
			_ = worker.Wait() // it was killed
		}
		pids := l.of("pids")
		for _, pid := range pids[begun:] {
			must.Happen(t, "process "+pid+" has ended", func() bool { return gone(pid) })
		}
		begun, ends[kill] = len(pids), len(l.of("done"))
	}
	worker := start(t, work)
	eventually(t, "all are done", func() bool { return l.done() == jobs })
	state := handover.Request{Jobs: &handover.Jobs{Queue: at}}
	must.Happen(t, "the stream is empty", func() bool {
		return strings.Contains(said(t, state, ""), "\n0 waiting, 0 running or resting before another attempt, 0 dead letters\n")
	})
	must.Do(t, worker.Process.Signal(os.Interrupt))
	must.Do(t, worker.Wait())
	all := l.of("done")
	t.Logf("%d jobs, %d kills: none lost, %d ran to their end twice", jobs, *kills, len(all)-jobs)
	for kill, before := range acknowledged {
		if len(before) == 0 {
			t.Errorf("no job was acknowledged before kill %d", kill+1)
		}
		for _, job := range before {
			if slices.Contains(all[ends[kill]:], job) {
				t.Errorf("job %s was acknowledged before kill %d, and ran again after it", job, kill+1)
			}
		}
	}
}

// numbers returns jobs whose payload is their number in the stream.
func numbers(n int) string {
	var lines strings.Builder
	for job := range n {
		fmt.Fprintln(&lines, job+1)
	}
	return lines.String()
}

// eventually waits for a condition that thousands of processes may take minutes to reach.
func eventually(t *testing.T, text string, holds func() bool) {
	t.Helper()
	end := time.Now().Add(5 * time.Minute)
	for range time.Tick(100 * time.Millisecond) {
		if holds() {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("never: %s", text)
		}
	}
}

// forgotten returns the jobs that the stream no longer has, of the first n.
func forgotten(t *testing.T, at handover.Queue, n int) (jobs []string) {
	t.Helper()
	local := must.Have(natspool.Open(t.Context(), at.Embedded))(t)
	defer func() { _ = local.Close() }()
	stream := must.Have(local.JetStream().Stream(t.Context(), at.Stream))(t)
	info := must.Have(stream.Info(t.Context(), jetstream.WithDeletedDetails(true)))(t)
	for job := range uint64(n) {
		if number := job + 1; number < info.State.FirstSeq || slices.Contains(info.State.Deleted, number) {
			jobs = append(jobs, strconv.FormatUint(number, 10))
		}
	}
	return jobs
}
