package throttle_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/throttle"
)

// An action runs at most once in Every, in a goroutine of its own: no operation waits for it.
func TestActionsAreRareAndHoldUpNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &plant{}
		p.says(0.95)
		calls := 0
		r := run(t, p, throttle.Config{Actions: []throttle.Action{{
			Name: "flush", Every: 10 * time.Second,
			Do: func(context.Context) error { calls++; time.Sleep(5 * time.Second); return errors.New("busy") },
		}}})
		pass(time.Second)
		if calls != 1 {
			t.Fatalf("%d calls", calls)
		}
		began := time.Now()
		op, err := r.Acquire(t.Context(), throttle.Read, 1) // while it flushes
		op.Done(err)
		if took := time.Since(began); err != nil || took > 0 {
			t.Errorf("an operation took %v: %v", took, err)
		}
		pass(28 * time.Second) // at 0, 15 and, after this, 30 s
		if calls != 2 || r.Snapshot().Actions["flush"] != 1 && r.Snapshot().Actions["flush"] != 2 {
			t.Errorf("%d calls, %v returned", calls, r.Snapshot().Actions)
		}
		if !r.had(throttle.ActionRan) {
			t.Error("no event")
		}
		pass(10 * time.Second)
	})
}

func TestActionsThatPanicOrHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &plant{}
		p.says(0.95)
		release := make(chan struct{})
		r := run(t, p, throttle.Config{Actions: []throttle.Action{
			{Name: "bug", Do: func(context.Context) error { panic("bug") }},
			{Name: "stuck", Do: func(context.Context) error { <-release; return nil }},
		}})
		pass(time.Second)
		r.stop()
		var errs []string
		for range 2 {
			if err := <-r.ended; err != nil {
				errs = append(errs, err.Error())
			}
		}
		if len(errs) != 1 || !strings.Contains(errs[0], `"stuck" does not return`) {
			t.Errorf("Run: %v", errs)
		}
		close(release)
		synctest.Wait()
	})
}

// An action goes by the feed that it names, which has to be there.
func TestActionGoesByItsFeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy, idle := &named{plant: &plant{}, name: "busy"}, &named{plant: &plant{}, name: "idle"}
		busy.says(0.95)
		idle.says(0.1)
		mon := monitor(t, busy, idle)
		ran := map[string]int{}
		act := func(source string) throttle.Action {
			return throttle.Action{Name: source, Source: source, Do: func(context.Context) error { ran[source]++; return nil }}
		}
		th := throttled(t, throttle.Config{Monitor: mon, Actions: []throttle.Action{act("busy"), act("idle")}})
		if _, err := throttle.New(throttle.Config{Monitor: mon, Actions: []throttle.Action{act("other")}}); !errors.Is(err, throttle.ErrConfig) {
			t.Errorf("a feed that is not there: %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		go func() { _ = mon.Run(ctx) }()
		if err := th.Run(ctx); err != nil {
			t.Error(err)
		}
		if ran["busy"] != 1 || ran["idle"] != 0 {
			t.Errorf("ran %v, want the one whose feed is busy", ran)
		}
	})
}
