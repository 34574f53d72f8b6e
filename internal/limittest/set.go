package limittest

import (
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/law"
)

// NewSet returns a set of limiters.
func NewSet(t testing.TB, c bulkhead.Config) *bulkhead.Set {
	t.Helper()
	s, err := bulkhead.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Key returns the settings of a key whose limit stays. Without a queue the timeout is ignored.
func Key(slots, queue int, timeout time.Duration) bulkhead.Compartment {
	c := weir.Config{Initial: slots, Law: law.Fixed{}, Queue: weir.Queue{Size: queue}}
	if queue > 0 {
		c.Queue.Timeout = timeout
	}
	return bulkhead.Compartment{Config: c}
}

// Hold takes n permits of a key, which must be free.
func Hold(t testing.TB, s *bulkhead.Set, key string, n int) []weir.Permit {
	t.Helper()
	permits := make([]weir.Permit, n)
	for i := range permits {
		permit, err := s.TryAcquire(t.Context(), key)
		if err != nil {
			t.Fatalf("permit %d of %d for %q: %v: %+v", i+1, n, key, err, s.Snapshot().ByKey[key])
		}
		permits[i] = permit
	}
	return permits
}
