package pool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/capacity"
)

// TestLawHearsHowTasksEnd: what a limiter would hear, and nothing of a task that lost its lease.
func TestLawHearsHowTasksEnd(t *testing.T) {
	ends := func(err error) func() error { return func() error { return err } }
	for _, test := range []struct {
		name string
		task func() error
		want string // succeeded, failed, timed out, overloaded and ignored
	}{
		{"done", ends(nil), "1 0 0 0 0"},
		{"failed", ends(errors.New("failed")), "0 1 0 0 0"},
		{"timed out", ends(context.DeadlineExceeded), "0 0 1 0 0"},
		{"refused", ends(fmt.Errorf("429: %w", weir.ErrRefused)), "0 0 0 1 0"},
		{"panicked", func() error { panic("panicked") }, "0 1 0 0 0"},
		{"exited", func() error { runtime.Goexit(); return nil }, "0 1 0 0 0"},
		{"lost its lease", func() error { time.Sleep(time.Minute); return nil }, "0 0 0 0 1"},
	} {
		synctest.Test(t, func(t *testing.T) {
			source := leaseless{{Run: func(context.Context) (any, error) { return nil, test.task() }}}
			p := noError(New(Config{
				Capacity: noError(capacity.New(capacity.Vector{"slots": 1})), Source: &source, Scaler: ByLaw{},
			}))
			for range p.Run(t.Context()) {
			}
			s := p.laws[0].node.State(int64(now()))
			if got := fmt.Sprint(s.Succeeded, s.Failed, s.TimedOut, s.Overloaded, s.Ignored); got != test.want {
				t.Errorf("%s: the law hears %s, want %s", test.name, got, test.want)
			}
		})
	}
}

// leaseless is a source whose leases last for half a minute, whatever is done.
type leaseless []Task

func (l *leaseless) Claim(_ context.Context, _ int, handOn func(Delivery)) error {
	for _, task := range *l {
		handOn(Delivery{Task: task, Lease: l, LeaseTime: 30 * time.Second})
	}
	return io.EOF
}

func (*leaseless) Backlog(context.Context) (Depth, error)        { return Depth{}, nil }
func (*leaseless) Acknowledge(context.Context) error             { return nil }
func (*leaseless) GiveBack(context.Context, time.Duration) error { return nil }
func (*leaseless) Extend(context.Context) error                  { return ErrLeaseLost }
