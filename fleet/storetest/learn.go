package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/fleet"
	"github.com/weir-go/weir/law"
)

// The latencies that two members measure without load. The second takes a queue for its server.
const (
	quick = 5 * time.Millisecond
	slow  = 50 * time.Millisecond
)

// learns has one member learn the latency without load from another.
func learns(t *testing.T, s fleet.Store) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	first, one := learner(ctx, t, s, quick)
	second, two := learner(ctx, t, s, slow)
	for end := time.Now().Add(3 * patience); ; time.Sleep(time.Millisecond) {
		a, b := noLoad(t, first), noLoad(t, second)
		if a > 0 && b > 0 && b < slow/2 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("not within %v: latencies without load of %v and %v, want the second near the first; %+v, %+v", 3*patience, a, b, one.Snapshot(), two.Snapshot())
		}
	}
}

// learner joins a member whose work takes as long as said, until ctx ends. It goes on from a state
// of an earlier process, as a law may take seconds to find its latency without load.
func learner(ctx context.Context, t *testing.T, s fleet.Store, takes time.Duration) (*weir.Limiter, *fleet.Member) {
	t.Helper()
	learner := fleet.Learn(law.Setpoint{})
	lim, err := weir.New(weir.Config{Law: learner})
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]any{"version": 1, "saved": time.Now(), "law": fmt.Sprintf("%T", learner.Unwrap()), "limit": 10, "no_load_ns": takes}
	state, err := json.Marshal(known)
	if err != nil {
		t.Fatal(err)
	}
	if err := lim.Restore(state); err != nil {
		t.Fatal(err)
	}
	m, err := fleet.Join(fleet.Config{
		Store: s, Actuator: fleet.Limiter(lim), Learner: learner, Cap: 100, Start: 10,
		Fallback: fleet.Local, Refresh: 50 * time.Millisecond, TTL: 10 * time.Second, Grace: slow,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Leave(context.Background()) }) // the store may be gone

	for range 4 { // a law that sees little work learns slowly
		go func() {
			for ctx.Err() == nil {
				_ = lim.Do(ctx, func(context.Context) error { time.Sleep(takes); return nil })
			}
		}()
	}
	return lim, m
}

func noLoad(t *testing.T, lim *weir.Limiter) time.Duration {
	t.Helper()
	var state struct {
		NoLoad time.Duration `json:"no_load_ns"`
	}
	if err := json.Unmarshal(lim.Save(), &state); err != nil {
		t.Fatal(err)
	}
	return state.NoLoad
}
