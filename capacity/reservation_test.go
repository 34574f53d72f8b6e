package capacity_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/capacity"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/together"
	"github.com/weir-go/weir/internal/trusted"
)

var reserve = trusted.Of[*capacity.Capacity, *capacity.Request, capacity.Grant]()

// line holds the waiters of c, in the order in which they were served.
type line struct {
	all    sync.WaitGroup
	mu     sync.Mutex
	served []string
}

// wait has name queue for the request and give it back on a signal.
func (l *line) wait(ctx context.Context, c *capacity.Capacity, n *capacity.Request, name string, hold <-chan struct{}) {
	l.all.Go(func() {
		grant, err := c.Acquire(ctx, n)
		l.mu.Lock()
		if err != nil {
			name += " refused"
		}
		l.served = append(l.served, name)
		l.mu.Unlock()
		if hold != nil {
			<-hold
		}
		grant.Release()
	})
	synctest.Wait()
}

func (l *line) expect(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Equal(l.served, want) {
		t.Errorf("served %q, want %q", l.served, want)
	}
}

// expectAll is expect where several are served in the same moment.
func (l *line) expectAll(t *testing.T, want ...string) {
	t.Helper()
	l.all.Wait()
	slices.Sort(l.served)
	l.expect(t, want...)
}

func TestWhoLeavesLetsTheNextGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, request := slots(t, 4)
		taken := must.Have(c.Acquire(nil, request(2)))(t) //nolint:staticcheck // nil counts as Background
		bored := errors.New("bored")
		ctx, leave := context.WithCancelCause(t.Context())
		var l line
		l.wait(ctx, c, request(4), "large", nil)
		l.wait(t.Context(), c, request(2), "small", nil)
		leave(bored)
		l.expectAll(t, "large refused", "small")
		taken.Release()
		if _, err := c.Acquire(ctx, request(1)); !errors.Is(err, bored) || errors.Is(err, weir.ErrRefused) {
			t.Errorf("%v, want the cause", err)
		}
		if s := c.Snapshot(); s.Grants != 0 || s.Waiting != 0 {
			t.Errorf("left behind: %+v", s)
		}
	})
}

func TestWhatCanNeverFitIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, request := slots(t, 6)
		five := request(5)
		taken := must.Have(c.TryAcquire(request(2)))(t)
		var l line
		l.wait(t.Context(), c, five, "five", nil)
		l.wait(t.Context(), c, request(1), "one", nil)
		must.Do(t, c.SetLimit("slots", 4))
		l.expectAll(t, "five refused", "one")
		_, err := c.Acquire(t.Context(), five)
		var refused *capacity.ShortageError
		if !errors.As(err, &refused) || refused.Reason != capacity.NeverFits || refused.Resource != "slots" {
			t.Errorf("at once: %v", err)
		}
		_, tried := c.TryAcquire(five)
		_, reserved := reserve(c, five, func() {})
		if !errors.Is(tried, capacity.ErrNeverFits) || !errors.Is(reserved, capacity.ErrNeverFits) {
			t.Errorf("at once: %v, %v", tried, reserved)
		}
		taken.Release()
	})
}

// A reservation that is short at its own level after a backfill lets others go on above.
func TestBackfillStepsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parent, request := slots(t, 4)
		a, b := must.Have(parent.Child(capacity.Vector{"slots": 3}))(t), must.Have(parent.Child(capacity.Vector{"slots": 4}))(t)
		taken := must.Have(parent.TryAcquire(request(2)))(t)
		large := must.Have(reserve(a, must.Have(a.Request(capacity.Vector{"slots": 3}))(t), func() {}))(t)
		var l line
		l.wait(t.Context(), b, must.Have(b.Request(capacity.Vector{"slots": 1}))(t), "b", nil)
		l.expect(t)
		one := must.Have(a.Request(capacity.Vector{"slots": 1}))(t)
		small := must.Have(large.Backfill(one))(t)
		l.expect(t, "b")
		must.Have(parent.TryAcquire(request(1)))(t)
		if _, err := large.Backfill(one); !errors.Is(err, capacity.ErrShort) {
			t.Errorf("%v, want short", err)
		}
		small.Release()
		taken.Release()
		must.Have(large.Grant())(t)
		for range 2 {
			large.Cancel()
		}
	})
}

// A child that is full holds up no other, and the parent is shared in order of arrival.
func TestFullChildHoldsUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parent, request := slots(t, 3)
		a, b := must.Have(parent.Child(capacity.Vector{"slots": 1}))(t), must.Have(parent.Child(capacity.Vector{"slots": 4}))(t)
		one := must.Have(a.Request(capacity.Vector{"slots": 1}))(t)
		two := must.Have(b.Request(capacity.Vector{"slots": 2}))(t)
		inA := must.Have(a.TryAcquire(one))(t)
		var l line
		l.wait(t.Context(), a, one, "a", nil)  // a is full
		inB := must.Have(b.TryAcquire(two))(t) // and b is not
		l.wait(t.Context(), b, two, "b", nil)  // the parent is full
		inA.Release()                          // for a, but b came first to the parent
		l.expect(t)
		direct := request(1)
		_, err := parent.TryAcquire(direct) // no overtaking at the parent
		if !errors.Is(err, capacity.ErrQueued) {
			t.Errorf("overtaken: %v", err)
		}
		if s := parent.Snapshot(); s.Waiting != 2 {
			t.Errorf("%d wait at the parent, want 2", s.Waiting)
		}
		inB.Release()
		l.expectAll(t, "a", "b")
	})
}

// A waiter at the parent that no longer fits its own capacity lets others pass.
func TestShrunkChildStepsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parent, request := slots(t, 3)
		a := must.Have(parent.Child(capacity.Vector{"slots": 2}))(t)
		taken := must.Have(parent.TryAcquire(request(2)))(t)
		var l line
		l.wait(t.Context(), a, must.Have(a.Request(capacity.Vector{"slots": 2}))(t), "a", nil)
		if _, err := parent.TryAcquire(request(1)); !errors.Is(err, capacity.ErrQueued) {
			t.Errorf("overtaken: %v", err)
		}
		l.wait(t.Context(), parent, request(1), "direct", nil)
		l.expect(t)
		must.Do(t, a.Withhold("slots", 1))
		l.expect(t, "direct")
		taken.Release()
		l.expect(t, "direct")
		must.Do(t, a.Withhold("slots", 0))
		l.all.Wait()
		l.expect(t, "direct", "a")
	})
}

// TestWhatComesFreeInBetween: after it was refused, and before it is in the queue.
func TestWhatComesFreeInBetween(t *testing.T) {
	c, request := slots(t, 1)
	one := request(1)
	together.Do(2, func(int) {
		for range 50_000 {
			must.Have(c.Acquire(t.Context(), one))(t).Release()
		}
	})
}
