package sourcetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/weir-go/weir/pool"
)

// Config says how to test a source.
type Config struct {
	// Open returns a source that holds these tasks and that no other code uses. Keys identify the
	// tasks. The source need not keep the Run of a task.
	Open func(t *testing.T, tasks []pool.Task) pool.Source
	// Leased is whether the source leases its tasks: then the leases are tested too.
	Leased bool
	// Patience is how long a source may take for a call that should return soon. Defaults to 5 s. A
	// test waits so long only if a source has no task to give and does not end.
	Patience time.Duration
}

// Run tests a source, and each further ability that it has: [pool.Rejecter] of its leases,
// [pool.Delivery].Attempt, [pool.Depth].Oldest.
func Run(t *testing.T, c Config) {
	c.Patience = cmp.Or(c.Patience, 5*time.Second)
	t.Run("each task once", c.once)
	t.Run("backlog", c.backlog)
	t.Run("oldest", c.oldest)
	t.Run("cancelled", c.cancelled)
	if c.Leased {
		t.Run("given back", c.givenBack)
		t.Run("given back later", c.later)
		t.Run("extended", c.extended)
		t.Run("lost", c.lost)
		t.Run("attempts", c.attempts)
		t.Run("rejected", c.rejected)
	}
}

// open returns a source of n tasks.
func (c Config) open(t *testing.T, n int) (pool.Source, []string) {
	t.Helper()
	tasks, keys := make([]pool.Task, n), make([]string, n)
	for i := range tasks {
		keys[i] = fmt.Sprintf("task-%03d", i)
		tasks[i] = pool.Task{Key: keys[i], Run: func(context.Context) (any, error) { return nil, nil }}
	}
	return c.Open(t, tasks), keys
}

// claim takes a task that must be there.
func (c Config) claim(t *testing.T, s pool.Source) pool.Delivery {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), c.Patience)
	defer cancel()
	d, err := next(ctx, s)
	succeeds(t, "Claim", err)
	c.checkLease(t, d)
	return d
}

// next claims a task, waiting until there is one.
func next(ctx context.Context, s pool.Source) (d pool.Delivery, err error) {
	claimed := false
	for err == nil && !claimed {
		err = s.Claim(ctx, 1, func(one pool.Delivery) { d, claimed = one, true })
	}
	if claimed {
		return d, nil
	}
	return d, err
}

// none demands that no task can be claimed.
func (c Config) none(t *testing.T, s pool.Source) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), c.Patience)
	defer cancel()
	if d, err := next(ctx, s); err == nil {
		t.Fatalf("Claim: got %q: want nothing", d.Task.Key)
	} else if !errors.Is(err, io.EOF) && ctx.Err() == nil {
		t.Fatalf("Claim: %v: want io.EOF, or to wait", err)
	}
}

// once claims all tasks in batches of 3, and then acknowledges them.
func (c Config) once(t *testing.T) {
	const n = 20
	s, want := c.open(t, n)
	ctx, cancel := context.WithTimeout(t.Context(), c.Patience)
	defer cancel()
	var all []pool.Delivery
	for len(all) < n {
		before := len(all)
		err := s.Claim(ctx, 3, func(d pool.Delivery) { all = append(all, d) })
		if len(all)-before > 3 {
			t.Errorf("Claim(3): got %d tasks", len(all)-before)
		}
		if err != nil && len(all) < n {
			t.Fatalf("Claim: %v, after %d of %d tasks", err, len(all), n)
		}
	}
	var got []string
	for _, d := range all {
		got = append(got, d.Task.Key)
		if c.checkLease(t, d); c.Leased {
			succeeds(t, "Acknowledge", d.Lease.Acknowledge(t.Context()))
			ended(t, d.Lease)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("claimed %q, want %q", got, want)
	}
	c.none(t, s)
}

func (c Config) checkLease(t *testing.T, d pool.Delivery) {
	t.Helper()
	if (d.Lease != nil) != c.Leased {
		t.Fatalf("Claim: leased is %v, want %v", d.Lease != nil, c.Leased)
	}
}

// succeeds demands that a call has no error.
func succeeds(t *testing.T, call string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", call, err)
	}
}

// ended demands that a lease has ended.
func ended(t *testing.T, l pool.Lease) {
	t.Helper()
	if l.Acknowledge(t.Context()) == nil || l.GiveBack(t.Context(), 0) == nil || l.Extend(t.Context()) == nil {
		t.Error("a lease that has ended: no error")
	}
	if r, ok := l.(pool.Rejecter); ok && r.Reject(t.Context(), errReason) == nil {
		t.Error("Reject of a lease that has ended: no error")
	}
}

func (c Config) backlog(t *testing.T) {
	const n = 5
	s, _ := c.open(t, n)
	for claimed := range n + 1 {
		for range 2 { // reading changes nothing
			d := c.depth(t, s)
			if d.Count < 0 || d.Oldest < 0 || d.Exact && d.Count != int64(n-claimed) {
				t.Errorf("Backlog: %+v with %d of %d claimed", d, claimed, n)
			}
		}
		if claimed < n {
			c.claim(t, s)
		}
	}
}

func (c Config) cancelled(t *testing.T) {
	s, _ := c.open(t, 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := s.Claim(ctx, 3, func(d pool.Delivery) { t.Errorf("claimed %q with a context that has ended", d.Task.Key) })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Claim with a context that has ended: %v: want that it is cancelled", err)
	}
	c.claim(t, s) // nothing was lost
}

func (c Config) givenBack(t *testing.T) {
	s, _ := c.open(t, 1)
	first := c.claim(t, s)
	succeeds(t, "GiveBack", first.Lease.GiveBack(t.Context(), 0))
	again := c.claim(t, s)
	if again.Task.Key != first.Task.Key {
		t.Errorf("claimed %q, want %q", again.Task.Key, first.Task.Key)
	}
	if first.Lease.Acknowledge(t.Context()) == nil {
		t.Error("Acknowledge by who gave it back: no error")
	}
	succeeds(t, "Acknowledge", again.Lease.Acknowledge(t.Context()))
}

func (c Config) later(t *testing.T) {
	s, _ := c.open(t, 1)
	delay := c.Patience / 10
	began := time.Now()
	succeeds(t, "GiveBack", c.claim(t, s).Lease.GiveBack(t.Context(), delay))
	if d, err := s.Backlog(t.Context()); err != nil || d.Exact && d.Count != 0 {
		t.Errorf("Backlog: %+v, %v: want none that could be claimed now", d, err)
	}
	c.claim(t, s)
	if took := time.Since(began); took < delay {
		t.Errorf("claimed after %v, want %v", took, delay)
	}
}

func (c Config) extended(t *testing.T) {
	s, _ := c.open(t, 1)
	d := c.claim(t, s)
	if d.LeaseTime == 0 {
		t.Skip("leases do not end")
	}
	<-time.After(d.LeaseTime / 2)
	began := time.Now()
	succeeds(t, "Extend", d.Lease.Extend(t.Context()))
	ctx, cancel := context.WithTimeout(t.Context(), d.LeaseTime+c.Patience)
	defer cancel()
	_, err := next(ctx, s)
	succeeds(t, "Claim after the lease", err)
	if took := time.Since(began); took < d.LeaseTime {
		t.Errorf("claimed after %v, while it was leased for %v", took, d.LeaseTime)
	}
}

func (c Config) lost(t *testing.T) {
	s, _ := c.open(t, 1)
	d := c.claim(t, s)
	if d.LeaseTime == 0 {
		t.Skip("leases do not end")
	}
	over := time.After(d.LeaseTime)
	ctx, cancel := context.WithTimeout(t.Context(), d.LeaseTime+c.Patience)
	defer cancel()
	again, err := next(ctx, s)
	succeeds(t, "Claim after the lease", err)
	<-over // also by the clock of the holder, which got the task after the lease began
	if d.Lease.Extend(t.Context()) == nil || d.Lease.Acknowledge(t.Context()) == nil {
		t.Error("a lease that was lost: no error")
	}
	succeeds(t, "Acknowledge", again.Lease.Acknowledge(t.Context()))
}

var errReason = errors.New("no such customer")

// oldest demands that the age of the oldest task grows, and that it is 0 without a task.
func (c Config) oldest(t *testing.T) {
	began := time.Now()
	s, _ := c.open(t, 1)
	var before pool.Depth
	for end := time.Now().Add(c.Patience / 10); before.Oldest == 0; {
		if time.Now().After(end) {
			t.Skip("it does not know the age")
		}
		before = c.depth(t, s)
		<-time.After(2 * time.Millisecond)
	}
	<-time.After(2 * time.Millisecond)
	after := c.depth(t, s)
	if after.Oldest <= before.Oldest || after.Oldest > time.Since(began) {
		t.Errorf("Backlog: the oldest waits for %v, and then for %v, of %v", before.Oldest, after.Oldest, time.Since(began))
	}
	if d := c.claim(t, s); c.Leased {
		succeeds(t, "Acknowledge", d.Lease.Acknowledge(t.Context()))
	}
	if d := c.depth(t, s); d.Oldest != 0 {
		t.Errorf("Backlog: the oldest waits for %v: want 0 without a task", d.Oldest)
	}
}

func (c Config) depth(t *testing.T, s pool.Source) pool.Depth {
	t.Helper()
	d, err := s.Backlog(t.Context())
	succeeds(t, "Backlog", err)
	return d
}

func (c Config) attempts(t *testing.T) {
	s, _ := c.open(t, 1)
	for attempt := 1; attempt <= 3; attempt++ {
		d := c.claim(t, s)
		if d.Attempt == 0 {
			t.Skip("it does not count")
		}
		if d.Attempt != attempt {
			t.Errorf("Claim: attempt %d, want %d", d.Attempt, attempt)
		}
		succeeds(t, "GiveBack", d.Lease.GiveBack(t.Context(), 0))
	}
}

func (c Config) rejected(t *testing.T) {
	s, _ := c.open(t, 1)
	d := c.claim(t, s)
	r, ok := d.Lease.(pool.Rejecter)
	if !ok {
		t.Skip("it has no dead letters")
	}
	succeeds(t, "Reject", r.Reject(t.Context(), errReason))
	ended(t, d.Lease)
	if left := c.depth(t, s); left.Count != 0 {
		t.Errorf("Backlog after Reject: %+v: want none", left)
	}
	c.none(t, s)
}
