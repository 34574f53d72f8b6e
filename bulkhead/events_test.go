package bulkhead_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
)

// TestEventsOfAllKeys: those named and unknown, there and yet to come, with a hook of their own and
// without.
func TestEventsOfAllKeys(t *testing.T) {
	var own journal
	c := bulkhead.Config{
		Max: 10, MaxKeys: 2, Default: fixed(1, 0, 0),
		ByKey: byKey{"named": fixed(1, 0, 0), "private": fixed(1, 0, 0)},
	}
	private := c.ByKey["private"]
	private.Config.OnEvent = own.note
	c.ByKey["private"] = private
	s := newSet(t, c)
	s.TryAcquire(t.Context(), "known")
	events, stop := s.Events(16)
	refuse := func(keys ...string) map[string]int {
		heard := map[string]int{}
		for _, key := range keys {
			if p, ok := s.TryAcquire(t.Context(), key); ok {
				defer p.Release()
			}
			s.TryAcquire(t.Context(), key)
		}
		for len(events) > 0 {
			e := <-events
			heard[e.Limiter]++
		}
		return heard
	}
	// The unknown key is the last of two; one more is in the overflow.
	if got := fmt.Sprint(refuse("named", "private", "unknown",
		"more")); got != "map[(overflow):1 named:1 private:1 unknown:1]" {
		t.Error(got)
	}
	c.ByKey["late"] = fixed(1, 0, 0)
	delete(c.ByKey, "named")
	if err := s.Update(c); err != nil {
		t.Fatal(err)
	}
	for len(events) > 0 {
		<-events
	}
	if got := refuse("late", "private", "unknown"); got["late"] != 1 || got["private"] != 1 || got["unknown"] != 1 {
		t.Error(got)
	}
	if len(own.of(weir.Refused)) != 2 {
		t.Errorf("the key's own heard %v", own.of(weir.Refused))
	}
	stop()
	stop()
	if got := refuse("late", "private"); len(got) != 0 {
		t.Errorf("heard of %v after the end", got)
	}
	if _, open := <-events; open {
		t.Error("the channel is open")
	}
}

func TestEventsWhileKeysComeAndGo(t *testing.T) {
	c := bulkhead.Config{MaxKeys: 3, Default: fixed(1, 0, 0)}
	s := newSet(t, c)
	events, stop := s.Events(4)
	var heard uint64
	done := make(chan struct{})
	go func() {
		defer close(done)
		for e := range events {
			heard += 1 + e.Lost
		}
	}()
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for n := range 300 {
				key := fmt.Sprint((i + n) % 9)
				p, ok := s.TryAcquire(context.Background(), key)
				s.TryAcquire(context.Background(), key)
				if ok {
					p.Release()
				}
				switch n % 50 {
				case 10:
					_, stop := s.Events(1)
					stop()
				case 20:
					_ = s.Update(c)
				}
			}
		})
	}
	all.Wait()
	stop()
	<-done
	if want := s.Snapshot().Total.RefusedTotal(); heard < want { // changes of limits are events too
		t.Errorf("heard of %d events, of %d refusals", heard, want)
	}
}
