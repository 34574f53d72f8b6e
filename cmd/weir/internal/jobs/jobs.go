// Package jobs demonstrates a pool that sizes itself: 24 jobs over 6 slots. The pool uses
// as many slots as the backlog requires. It also runs the same jobs at fixed sizes. The jobs only
// sleep; the rest is real.
package jobs

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/weir-go/weir/capacity"
	"github.com/weir-go/weir/pool"
)

// The jobs and their needs.
const (
	jobs     = 24
	shortest = 80 * time.Millisecond
	longest  = 300 * time.Millisecond
	slots    = 6
	seed     = 20 // as in weir demo; of the seeds 0 to 24, 10 last long enough to fall to 4, including this one
)

// scaler is the scaler of the adaptive run.
var scaler = pool.ByBacklog{High: 10, Low: 4, Min: 2, Initial: 3, Period: 200 * time.Millisecond}

// best is the fixed size that ends first. The smaller sizes are never right: these jobs have
// no lull.
const best = slots

var wrong = []int64{3, 2}

// Run prints the demonstration. It ends by itself, or early with ctx.
func Run(ctx context.Context, out io.Writer) error {
	fmt.Fprintf(out, "%d jobs of %v to %v over %d slots, %d at first; one more above a backlog of %d, one less below %d.\n\n",
		jobs, shortest, longest, slots, scaler.Initial, scaler.High, scaler.Low)
	adaptive, err := run(ctx, out, slots, scaler)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%-9s %8s %12s %17s\n", "size", "ended", "slots held", "of these, unused")
	adaptive.print(out, "adaptive")
	for i, size := range append([]int64{best}, wrong...) {
		fixed, err := run(ctx, io.Discard, size, nil)
		if err != nil {
			return err
		}
		name := "wrong"
		if i == 0 {
			name = "best"
		}
		fixed.print(out, fmt.Sprintf("%d, %s", size, name))
	}
	return nil
}

type result struct {
	took, held, busy time.Duration // held and busy are multiplied by slots
}

func (r result) print(out io.Writer, name string) {
	seconds := func(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }
	fmt.Fprintf(out, "%-9s %8s %12s %17s\n", name, seconds(r.took), seconds(r.held), seconds(r.held-r.busy))
}

// run runs the jobs and prints the scaler's decisions.
func run(ctx context.Context, out io.Writer, limit int64, scaler pool.Scaler) (r result, err error) {
	c, err := capacity.New(capacity.Vector{"slots": limit})
	if err != nil {
		return r, err
	}
	p, err := pool.New(pool.Config{Capacity: c, Source: pool.Slice(all()), Scaler: scaler})
	if err != nil {
		return r, err
	}
	began := time.Now()
	size, since, completed := limit, began, 0
	for ev, err := range p.Run(ctx) {
		switch {
		case err != nil:
			return r, err
		case ev.Kind == pool.Done:
			completed++
			r.busy += ev.Took
		case ev.Kind == pool.Decided:
			d := ev.Decision
			r.held += time.Duration(size) * d.At.Sub(since) // zero for the first decision
			size, since = d.To, d.At
			report(out, d)
		}
	}
	r.took = time.Since(began)
	r.held += time.Duration(size) * time.Since(since)
	fmt.Fprintf(out, "[done] completed=%d finalAvailable=%d\n", completed, c.Resource("slots").Available)
	return r, nil
}

func report(out io.Writer, d *pool.Decision) {
	fmt.Fprintf(out, "[ctrl] backlog=%d completed=%d effective=%d\n", d.Backlog.Count, d.Completed, d.From)
	switch {
	case d.To > d.From:
		fmt.Fprintf(out, "[ctrl] scale-up -> effective=%d (%v)\n", d.To, d.Reason)
	case d.To < d.From:
		fmt.Fprintf(out, "[ctrl] scale-down -> effective=%d (%v)\n", d.To, d.Reason)
	}
}

// all returns the jobs, the same each time.
func all() (tasks []pool.Task) {
	random := rand.New(rand.NewPCG(seed, seed))
	for i := range jobs {
		takes := shortest + time.Duration(random.Int64N(int64(longest-shortest)))
		key := fmt.Sprintf("job-%d", i+1)
		tasks = append(tasks, pool.Task{Key: key, Run: func(ctx context.Context) (any, error) {
			select {
			case <-time.After(takes):
				return key + ":ok", nil
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}})
	}
	return tasks
}
