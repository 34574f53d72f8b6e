package bulkhead_test

import (
	"context"
	"errors"
	"testing"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
)

// DoN takes so many slots, of the key and of the cap, by name and by handle.
func TestDoNTakesItsWeight(t *testing.T) {
	s := newSet(t, bulkhead.Config{Max: 10})
	h, err := s.Handle("a")
	if err != nil {
		t.Fatal(err)
	}
	seen := func(context.Context) error {
		if got := s.Snapshot().Total.InFlight; got != 3 {
			t.Errorf("%d in flight: want 3", got)
		}
		return nil
	}
	if err := errors.Join(s.DoN(t.Context(), "a", 3, seen), h.DoN(t.Context(), 3, seen)); err != nil {
		t.Error(err)
	}
	for _, err := range []error{s.DoN(t.Context(), "a", 0, seen), h.DoN(t.Context(), -1, seen)} {
		if !errors.Is(err, weir.ErrConfig) {
			t.Error(err)
		}
	}
}
