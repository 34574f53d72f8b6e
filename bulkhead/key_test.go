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
