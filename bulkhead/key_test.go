package bulkhead_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
)

func TestBadKeysAreRefused(t *testing.T) {
	s := newSet(t, bulkhead.Config{})
	long := strings.Repeat("x", bulkhead.MaxKeyLength)
	for _, key := range []string{"", long + "x", strings.Repeat("x", 1<<20)} {
		_, acquired := s.Acquire(t.Context(), key)
		_, handle := s.Handle(key)
		for _, err := range []error{acquired, handle, s.Do(t.Context(), key, work(0)), s.Full(t.Context(), key)} {
			if !errors.Is(err, bulkhead.ErrKey) || !errors.Is(err, weir.ErrRefused) || len(err.Error()) > 100 {
				t.Errorf("%d bytes: %v", len(key), err)
			}
			why, ok := errors.AsType[*weir.RefusedError](err)
			if !ok || why.Reason != weir.ReasonBadKey || len(why.Limiter) > bulkhead.MaxKeyLength {
				t.Errorf("%q: %+v", key, why)
			}
		}
		if _, err := s.TryAcquire(t.Context(), key); err == nil {
			t.Error("admitted")
		}
	}
	hold(t, s, long, 1)
	if n := s.Snapshot().Unknown; n != 1 {
		t.Errorf("%d keys, want 1", n)
	}
}

// FuzzKeys uses any strings as keys: they are admitted or refused for their length, are
// distinguished, and never grow the table beyond its bound.
func FuzzKeys(f *testing.F) {
	f.Add("search", "checkout")
	f.Add("", bulkhead.Overflow)
	f.Add("\x00\xff", "\x00")
	f.Add(strings.Repeat("é", 128), strings.Repeat("x", 257))
	f.Fuzz(func(t *testing.T, a, b string) {
		s := newSet(t, bulkhead.Config{MaxKeys: 2, Max: 5, Default: fixed(1, 0, 0)})
		for _, key := range []string{a, b} {
			permit, err := s.Acquire(t.Context(), key)
			switch bad := key == "" || len(key) > bulkhead.MaxKeyLength; {
			case bad && !errors.Is(err, bulkhead.ErrKey):
				t.Errorf("%q: %v", key, err)
			case !bad && (err != nil) != (a == b && key == b && s.Snapshot().ByKey[key].RefusedTotal() > 0):
				t.Errorf("%q: %v", key, err)
			case !bad && s.Snapshot().ByKey[key].InFlight != 1:
				t.Errorf("%q is not in the table", key)
			}
			defer permit.Done(nil)
		}
		if n := len(s.Snapshot().ByKey); n > 3 {
			t.Errorf("%d compartments", n)
		}
	})
}
