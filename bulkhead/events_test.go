package bulkhead_test

import (
	"fmt"
	"testing"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/internal/limittest"
)

// TestOneHookForAllKeys: but for keys that have their own, also after an update.
func TestOneHookForAllKeys(t *testing.T) {
	var all, own limittest.Journal
	c := bulkhead.Config{
		Max: 10, OnEvent: all.Note, Default: fixed(1, 0, 0),
		ByKey: byKey{"named": fixed(1, 0, 0), "private": fixed(1, 0, 0)},
	}
	private := c.ByKey["private"]
	private.Config.OnEvent = own.Note
	c.ByKey["private"] = private
	s := newSet(t, c)
	refuse := func() (heard []string) {
		for _, key := range []string{"named", "private", "unknown"} {
			s.TryAcquire(t.Context(), key)
			s.TryAcquire(t.Context(), key)
		}
		for _, e := range all.Of(weir.Refused) {
			heard = append(heard, e.Limiter)
		}
		return heard
	}
	if got := refuse(); len(got) != 2 || got[0] != "named" || got[1] != "unknown" {
		t.Errorf("heard of %q", got)
	}
	if got := own.Of(weir.Refused); len(got) != 1 || got[0].Limiter != "private" {
		t.Errorf("the key's own heard %v", got)
	}
	c.OnEvent = nil
	update(t, s, c)
	if got := refuse(); len(got) != 2 {
		t.Errorf("an update left the hook: heard of %q", got)
	}
}

// TestEventsOfAllKeys: those named and unknown, there and yet to come, with a hook of their own and
// without.
func TestEventsOfAllKeys(t *testing.T) {
	var own limittest.Journal
	c := bulkhead.Config{
		Max: 10, MaxKeys: 2, Default: fixed(1, 0, 0),
		ByKey: byKey{"named": fixed(1, 0, 0), "private": fixed(1, 0, 0)},
	}
	private := c.ByKey["private"]
	private.Config.OnEvent = own.Note
	c.ByKey["private"] = private
	s := newSet(t, c)
	s.TryAcquire(t.Context(), "known")
	events, stop := s.Events(16)
	refuse := func(keys ...string) map[string]int {
		heard := map[string]int{}
		for _, key := range keys {
			if p, err := s.TryAcquire(t.Context(), key); err == nil {
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
	update(t, s, c)
	for len(events) > 0 {
		<-events
	}
	if got := refuse("late", "private", "unknown"); got["late"] != 1 || got["private"] != 1 || got["unknown"] != 1 {
		t.Error(got)
	}
	if len(own.Of(weir.Refused)) != 2 {
		t.Errorf("the key's own heard %v", own.Of(weir.Refused))
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
