package bulkhead_test

import (
	"testing"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
)

// TestOneHookForAllKeys: but for keys that have their own, also after an update.
func TestOneHookForAllKeys(t *testing.T) {
	var all, own journal
	c := bulkhead.Config{
		Max: 10, OnEvent: all.note, Default: fixed(1, 0, 0),
		ByKey: byKey{"named": fixed(1, 0, 0), "private": fixed(1, 0, 0)},
	}
	private := c.ByKey["private"]
	private.Config.OnEvent = own.note
	c.ByKey["private"] = private
	s := newSet(t, c)
	refuse := func() (heard []string) {
		for _, key := range []string{"named", "private", "unknown"} {
			s.TryAcquire(t.Context(), key)
			s.TryAcquire(t.Context(), key)
		}
		for _, e := range all.of(weir.Refused) {
			heard = append(heard, e.Limiter)
		}
		return heard
	}
	if got := refuse(); len(got) != 2 || got[0] != "named" || got[1] != "unknown" {
		t.Errorf("heard of %q", got)
	}
	if got := own.of(weir.Refused); len(got) != 1 || got[0].Limiter != "private" {
		t.Errorf("the key's own heard %v", got)
	}
	c.OnEvent = nil
	if err := s.Update(c); err != nil {
		t.Fatal(err)
	}
	if got := refuse(); len(got) != 2 {
		t.Errorf("an update left the hook: heard of %q", got)
	}
}
