package slot_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/slot"
)

// A desk is a gate and the streams, with a share that comes with their slots.
type desk struct {
	gate, streams *weir.Limiter
	shares        int
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	return &desk{gate: limittest.Fixed(t, 1, weir.Queue{}), streams: limittest.Fixed(t, 1, weir.Queue{})}
}

func (d *desk) share() func() {
	d.shares++
	return func() { d.shares-- }
}

func (d *desk) source(ctx context.Context) (weir.Permit, func(), error) {
	permit, err := d.streams.Acquire(ctx)
	if err != nil {
		return permit, nil, err
	}
	return permit, d.share(), nil
}

// holds compares the slots and shares that are taken.
func (d *desk) holds(t *testing.T, what string, gate, streams, shares int) {
	t.Helper()
	g, s := d.gate.Snapshot().InFlight, d.streams.Snapshot().InFlight
	if g != gate || s != streams || d.shares != shares {
		t.Errorf("%s: %d of the gate, %d streams, %d shares; want %d, %d, %d", what, g, s, d.shares, gate, streams, shares)
	}
}

func TestLifeOfARequest(t *testing.T) {
	d, s := newDesk(t), new(slot.Slot)
	must.Do(t, s.Hold(t.Context(), d.gate, d.share()))
	d.holds(t, "held", 1, 0, 1)
	s.Measure(weir.Success)
	if waited := s.Waited(); waited != 0 {
		t.Errorf("waited %v for a free slot", waited)
	}
	if exchanged, err := s.Exchange(t.Context(), d.source, slot.Outcome{Outcome: weir.Success}); !exchanged || err != nil {
		t.Fatal(exchanged, err)
	}
	d.holds(t, "a stream", 0, 1, 1)
	if s.Finish(slot.Outcome{Outcome: weir.Failure}) || s.State() != slot.Stream {
		t.Error("a stream finished as work of the gate")
	}
	s.Close(weir.Ignore)
	s.Close(weir.Failure)
	d.holds(t, "closed", 0, 0, 0)
	limittest.Check(t, d.gate, limittest.Taught{Succeeded: 1})
	limittest.Check(t, d.streams, limittest.Taught{Ignored: 1})
	if exchanged, err := s.Exchange(t.Context(), d.source, slot.Outcome{}); exchanged || err != nil {
		t.Error("a closed slot was exchanged")
	}
}

func TestRefusals(t *testing.T) {
	d := newDesk(t)
	d.streams.Close()
	s := new(slot.Slot)
	must.Do(t, s.Hold(t.Context(), d.gate, nil))
	if err := new(slot.Slot).Hold(t.Context(), d.gate, d.share()); !errors.Is(err, weir.ErrRefused) {
		t.Errorf("a full gate: %v", err)
	}
	d.holds(t, "refused", 1, 0, 0)
	if exchanged, err := s.Exchange(t.Context(), d.source, slot.Outcome{Outcome: weir.Success}); !exchanged || !errors.Is(err, weir.ErrRefused) {
		t.Errorf("streams that are closed: %v, %v", exchanged, err)
	}
	d.holds(t, "no stream", 0, 0, 0)
	if s.State() != slot.Closed {
		t.Errorf("state %d", s.State())
	}
}

func TestStreamAsksTheGate(t *testing.T) {
	d, s := newDesk(t), new(slot.Slot)
	must.Do(t, s.Begin(t.Context(), d.source, d.gate))
	d.holds(t, "begun", 0, 1, 1)
	if err := new(slot.Slot).Begin(t.Context(), slot.Of(d.streams), d.gate); !errors.Is(err, weir.ErrRefused) {
		t.Errorf("streams that are full: %v", err)
	}
	s.Close(weir.Ignore)
	d.gate.Close()
	if err := new(slot.Slot).Begin(t.Context(), d.source, d.gate); !errors.Is(err, weir.ErrRefused) {
		t.Errorf("a closed gate: %v", err)
	}
	d.holds(t, "refused", 0, 0, 0)
}

// A timer may exchange the slot of a request that ends at the same time.
func TestEndWithinAnExchange(t *testing.T) {
	d, s := newDesk(t), new(slot.Slot)
	must.Do(t, s.Hold(t.Context(), d.gate, nil))
	late := func(ctx context.Context) (weir.Permit, func(), error) {
		permit, share, err := d.source(ctx)
		s.Close(weir.Ignore)
		return permit, share, err
	}
	if exchanged, err := s.Exchange(t.Context(), late, slot.Outcome{Outcome: weir.Success}); !exchanged || err != nil {
		t.Fatal(exchanged, err)
	}
	d.holds(t, "ended", 0, 0, 0)
}

func TestPartOfUploads(t *testing.T) {
	for _, c := range []struct {
		gate    weir.Snapshot
		uploads float64
		want    int
	}{
		{weir.Snapshot{Limit: 8}, 0.25, 2},
		{weir.Snapshot{Limit: 8}, 1, 8},
		{weir.Snapshot{Limit: 8}, 0.01, 1},
		{weir.Snapshot{}, 1, 1}, // of a gate whose limit is not known
		{weir.Snapshot{Limit: 8, Shadow: true}, 0.25, math.MaxInt},
	} {
		if got := slot.Part(c.gate, c.uploads); got != c.want {
			t.Errorf("%v of a limit of %d, shadow %v: %d, want %d", c.uploads, c.gate.Limit, c.gate.Shadow, got, c.want)
		}
	}
}

type panics struct{}

func (panics) Acquire(context.Context) (weir.Permit, error) { panic("a gate") }

func TestGateThatPanics(t *testing.T) {
	d := newDesk(t)
	for _, take := range []func(*slot.Slot) error{
		func(s *slot.Slot) error { return s.Hold(t.Context(), panics{}, d.share()) },
		func(s *slot.Slot) error { return s.Begin(t.Context(), d.source, panics{}) },
	} {
		func() {
			defer func() { _ = recover() }()
			_ = take(new(slot.Slot))
		}()
		d.holds(t, "after a panic", 0, 0, 0)
	}
}

// hostile is a breaker that panics when it hears how the work ended.
type hostile struct{}

func (hostile) Allow(context.Context) (func(weir.Outcome), error) {
	return func(weir.Outcome) { panic("a hook") }, nil
}

func TestHookThatPanicsKeepsNoSlot(t *testing.T) {
	for name, end := range map[string]func(*slot.Slot, *desk){
		"at the end": func(s *slot.Slot, _ *desk) { s.Close(weir.Success) },
		"in between": func(s *slot.Slot, d *desk) {
			_, _ = s.Exchange(t.Context(), d.source, slot.Outcome{Outcome: weir.Success})
		},
	} {
		for _, at := range []string{"gate", "streams"} {
			t.Run(name+" of the "+at, func(t *testing.T) {
				d, s := newDesk(t), new(slot.Slot)
				lim := map[string]*weir.Limiter{"gate": d.gate, "streams": d.streams}[at]
				conf := lim.Config()
				conf.Breaker = hostile{}
				must.Do(t, lim.Update(conf))
				must.Do(t, s.Hold(t.Context(), d.gate, d.share()))
				limittest.Unwind(func() {
					defer s.Close(weir.Failure)
					end(s, d)
				})
				d.holds(t, "after a panic", 0, 0, 0)
			})
		}
	}
}

// The wait for the gate counts beside that for the streams.
func TestWaitOfAStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &desk{gate: limittest.Fixed(t, 1, weir.Queue{Size: 1}), streams: limittest.Fixed(t, 1, weir.Queue{Size: 1})}
		for _, lim := range []*weir.Limiter{d.streams, d.gate} {
			permit, after := must.Have(lim.Acquire(t.Context()))(t), 100*time.Millisecond
			if lim == d.gate {
				after *= 3
			}
			time.AfterFunc(after, permit.Release)
		}
		s := new(slot.Slot)
		must.Do(t, s.Begin(t.Context(), d.source, d.gate))
		if waited := s.Waited(); waited != 300*time.Millisecond {
			t.Errorf("waited %v, want 100 ms for the streams and 200 ms for the gate", waited)
		}
	})
}
