package bulkhead_test

import (
	"context"
	"errors"
	"testing"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
)

// A handle that no Set made, such as the one that came with an error, refuses.
func TestHandleOfNoSetRefuses(t *testing.T) {
	none, err := newSet(t, bulkhead.Config{}).Handle("")
	if !errors.Is(err, bulkhead.ErrKey) || none != nil {
		t.Fatalf("%v, %v", none, err)
	}
	for name, h := range map[string]*bulkhead.Handle{"nil": none, "zero": {}} {
		t.Run(name, func(t *testing.T) {
			_, acquired := h.Acquire(t.Context())
			_, weighed := h.AcquireN(t.Context(), 2)
			for _, err := range []error{
				acquired, weighed,
				h.Do(t.Context(), func(context.Context) error { t.Error("it ran"); return nil }),
			} {
				if !errors.Is(err, bulkhead.ErrKey) || !errors.Is(err, weir.ErrRefused) {
					t.Errorf("got %v, want bulkhead.ErrKey", err)
				}
			}
			if _, ok := h.TryAcquire(t.Context()); ok {
				t.Error("admitted")
			}
			if key := h.Key(); key != "" {
				t.Errorf("key %q", key)
			}
		})
	}
}
