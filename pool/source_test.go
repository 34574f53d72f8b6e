package pool_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/pool"
)

func TestSourceFaults(t *testing.T) {
	broken := errors.New("broken")
	for _, test := range []struct {
		name   string
		source faulty
		want   string
		is     error
	}{
		{"error", faulty{tasks: 1, then: func(context.Context) error { return broken }}, "1 done", broken},
		{"panic", faulty{tasks: 1, then: func(context.Context) error { panic(broken) }}, "1 done", pool.ErrSource},
		{"end", faulty{tasks: 2, then: func(context.Context) error { return io.EOF }}, "1 done, 2 done", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				run(t, pool.Config{Capacity: slots(1), Source: &test.source}).expect(t, test.want, test.is)
			})
		})
	}
	t.Run("blocks", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			release := make(chan struct{})
			source := &faulty{tasks: 1, then: func(context.Context) error { <-release; return io.EOF }}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var last error
			for ev, err := range must.Have(pool.New(pool.Config{Capacity: slots(1), Source: source}))(t).Run(ctx) {
				if last = err; ev.Kind == pool.Done {
					cancel()
				}
			}
			if !errors.Is(last, pool.ErrAbandoned) || !strings.Contains(last.Error(), "the source") {
				t.Errorf("%v", last)
			}
			close(release)
		})
	})
}

func TestDrainLeavesASourceBehindThatBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		source := &faulty{tasks: 2, then: func(context.Context) error { <-release; return io.EOF }}
		p := must.Have(pool.New(pool.Config{Capacity: slots(2), Source: source, Grace: 100 * time.Millisecond}))(t)
		time.AfterFunc(500*time.Millisecond, p.Drain)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour) // or a run that waits for the source would not end
		defer cancel()
		began, done := time.Now(), 0
		var last error
		for ev, err := range p.Run(ctx) {
			if last = err; ev.Kind == pool.Done {
				done++
			}
		}
		if took := time.Since(began); done != 2 || took != 2100*time.Millisecond ||
			!errors.Is(last, pool.ErrAbandoned) {
			t.Errorf("%d done in %v, %v: want what ran to end, and then the grace", done, took, last)
		}
		close(release)
	})
}

// faulty is a source of some tasks, and then of trouble.
type faulty struct {
	tasks, claimed int
	then           func(context.Context) error
	backlog        func(context.Context) (pool.Depth, error)
}

func (f *faulty) Claim(ctx context.Context, _ int, handOn func(pool.Delivery)) error {
	if f.claimed++; f.claimed <= f.tasks {
		handOn(pool.Delivery{Task: task(fmt.Sprint(f.claimed), time.Duration(f.claimed)*time.Second, nil)})
		return nil
	}
	return f.then(ctx)
}

func (f *faulty) Backlog(ctx context.Context) (pool.Depth, error) {
	if f.backlog == nil {
		return pool.Depth{}, nil
	}
	return f.backlog(ctx)
}

// TestContextThatHasEnded: such a run can be over before anyone but the feeder looks.
func TestContextThatHasEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 200 {
		p := must.Have(pool.New(pool.Config{Capacity: slots(1), Source: pool.Slice([]pool.Task{task("a", 1, nil)})}))(t)
		var last error
		for _, err := range p.Run(ctx) {
			last = err
		}
		if !errors.Is(last, context.Canceled) {
			t.Fatalf("ended with %v", last)
		}
	}
}
