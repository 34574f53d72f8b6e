package sourcetest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/weir-go/weir/pool"
)

var errReason = errors.New("no such customer")

// oldest demands that the age of the oldest task grows, and that there is none without a task.
func (c Config) oldest(t *testing.T) {
	began := time.Now()
	s, _ := c.open(t, 1)
	var before pool.Depth
	for end := time.Now().Add(c.Patience / 10); before.Oldest == 0; {
		if time.Now().After(end) {
			t.Skip("it does not know the age")
		}
		before = c.depth(t, s)
		rest(t)
	}
	rest(t)
	after := c.depth(t, s)
	if after.Oldest <= before.Oldest || after.Oldest > time.Since(began) {
		t.Errorf("Backlog: the oldest waits for %v, and then for %v, of %v", before.Oldest, after.Oldest, time.Since(began))
	}
	if d := c.claim(t, s); c.Leased {
		if err := d.Lease.Acknowledge(t.Context()); err != nil {
			t.Fatalf("Acknowledge: %v", err)
		}
	}
	if d := c.depth(t, s); d.Oldest != 0 {
		t.Errorf("Backlog: the oldest waits for %v: want 0 without a task", d.Oldest)
	}
}

func (c Config) depth(t *testing.T, s pool.Source) pool.Depth {
	t.Helper()
	d, err := s.Backlog(t.Context())
	if err != nil {
		t.Fatalf("Backlog: %v", err)
	}
	return d
}

// rest lets a clock go on.
func rest(t *testing.T) {
	select {
	case <-time.After(2 * time.Millisecond):
	case <-t.Context().Done():
	}
}

// batches claims in batches of 3 what it takes one lease, of several batches, to hold.
func (c Config) batches(t *testing.T) {
	const n = 8
	s, want := c.open(t, n)
	ctx, cancel := context.WithTimeout(t.Context(), c.Patience)
	defer cancel()
	var got []string
	for len(got) < n {
		before := len(got)
		err := s.Claim(ctx, 3, func(d pool.Delivery) {
			if (d.Lease != nil) != c.Leased {
				t.Errorf("Claim: leased is %v, want %v", d.Lease != nil, c.Leased)
			}
			got = append(got, d.Task.Key)
		})
		if len(got)-before > 3 {
			t.Errorf("Claim(3): got %d tasks", len(got)-before)
		}
		if err != nil && len(got) < n {
			t.Fatalf("Claim: %v, after %d of %d tasks", err, len(got), n)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("claimed %q, want %q", got, want)
	}
}

// size demands that a source which bounds the pool lets it hold as many tasks as it can run.
func (c Config) size(t *testing.T) {
	s, _ := c.open(t, 4)
	sized, ok := s.(pool.Sized)
	if !ok {
		t.Skip("it does not hear the size")
	}
	for _, size := range []int64{1, 4, 1 << 40, 2} {
		if most := sized.Resize(size); most < size && size < 1<<40 || most < 1 {
			t.Errorf("Resize(%d): the pool may hold %d", size, most)
		}
	}
	for range 4 {
		c.claim(t, s)
	}
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
		if err := d.Lease.GiveBack(t.Context(), 0); err != nil {
			t.Fatalf("GiveBack: %v", err)
		}
	}
}

func (c Config) rejected(t *testing.T) {
	s, _ := c.open(t, 1)
	d := c.claim(t, s)
	r, ok := d.Lease.(pool.Rejecter)
	if !ok {
		t.Skip("it has no dead letters")
	}
	if err := r.Reject(t.Context(), errReason); err != nil {
		t.Fatalf("Reject: %v", err)
	}
	ended(t, d.Lease)
	if left := c.depth(t, s); left.Count != 0 {
		t.Errorf("Backlog after Reject: %+v: want none", left)
	}
	c.none(t, s)
}
