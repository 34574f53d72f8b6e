package bulkhead_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/internal/must"
)

var _ weir.Admitter = (*bulkhead.Handle)(nil)

// full asks a set and a handle, which must agree.
func full(t *testing.T, s *bulkhead.Set, key string) error {
	t.Helper()
	h := must.Have(s.Handle(key))(t)
	one, other := s.Full(t.Context(), key), h.Full(t.Context())
	if fmt.Sprint(one) != fmt.Sprint(other) {
		t.Errorf("the set: %v, the handle: %v", one, other)
	}
	return one
}

func TestHandleOutlivesItsCompartment(t *testing.T) {
	s := newSet(t, bulkhead.Config{MaxKeys: 1, Max: 10, Default: fixed(1, 0, 0)})
	h, err := s.Handle("a")
	if err != nil || h.Key() != "a" {
		t.Fatal(err)
	}
	for range 3 {
		for range 2 { // so that it was used again
			permit := must.Have(h.Acquire(t.Context()))(t)
			permit.Done(nil)
		}
		hold(t, s, "b", 1)[0].Done(nil)
		if _, ok := s.Snapshot().ByKey["a"]; ok {
			t.Fatal("was not evicted")
		}
	}
	must.Do(t, h.Do(t.Context(), work(0)))
	if k := h.Snapshot(); k.Name != "a" || k.Completed != 1 || h.String() != "a" {
		t.Errorf("%v: %+v", h, k)
	}
	if s.Snapshot().Evicted != 6 {
		t.Errorf("%d evictions", s.Snapshot().Evicted)
	}
	balanced(t, s)
}

func TestHandleFollowsAnUpdate(t *testing.T) {
	c := bulkhead.Config{Default: fixed(1, 0, 0), ByKey: byKey{"a": fixed(2, 0, 0)}}
	s := newSet(t, c)
	h, _ := s.Handle("a")
	for range 2 {
		if _, err := h.TryAcquire(t.Context()); err != nil {
			t.Error("refused")
		}
	}
	delete(c.ByKey, "a")
	update(t, s, c)
	if _, err := h.TryAcquire(t.Context()); err != nil {
		t.Error("does not find the key's new compartment")
	}
	if _, err := h.TryAcquire(t.Context()); err == nil {
		t.Error("goes by the old settings")
	}
}

// A handle that no Set made, such as the one that came with an error, refuses.
func TestHandleOfNoSetRefuses(t *testing.T) {
	for _, h := range []*bulkhead.Handle{nil, {}} {
		_, acquired := h.Acquire(t.Context())
		done := h.Do(t.Context(), func(context.Context) error { t.Error("it ran"); return nil })
		_, tried := h.TryAcquire(t.Context())
		for _, err := range []error{acquired, tried, done, h.Full(t.Context())} {
			if !errors.Is(err, bulkhead.ErrKey) || !errors.Is(err, weir.ErrRefused) {
				t.Errorf("got %v, want bulkhead.ErrKey", err)
			}
		}
		if h.Key() != "" {
			t.Errorf("key %q", h.Key())
		}
	}
}

// A question makes no compartment, and drives none out.
func TestFullMakesNoCompartment(t *testing.T) {
	s := newSet(t, bulkhead.Config{MaxKeys: 1, Max: 2, Default: fixed(2, 0, 0)})
	must.Do(t, full(t, s, "a"))
	hold(t, s, "b", 1)[0].Done(nil)
	for range 3 {
		if err := full(t, s, "a"); err != nil { // b is idle and would go
			t.Error(err)
		}
	}
	if snap := s.Snapshot(); snap.Unknown != 1 || snap.Evicted != 0 || snap.ByKey["b"].Completed != 1 {
		t.Errorf("%+v", snap)
	}
}

func TestFullOfACap(t *testing.T) {
	s := newSet(t, bulkhead.Config{Max: 3, Default: fixed(2, 0, 0)})
	hold(t, s, "a", 1)
	over := hold(t, s, "b", 2)
	if err := full(t, s, "a"); !errors.Is(err, weir.ErrLimitReached) {
		t.Errorf("the cap is full: %v", err)
	}
	over[0].Done(nil)
	must.Do(t, full(t, s, "a"))
}

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
