package weir_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/queue"
	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/window"
	"github.com/weir-go/weir/law"
)

// Heavy work whose time is up, but whose timer has not fired yet, leaves. The newcomer that
// finds this out is refused, and the waiter between must be served.
func TestExpiredHeavyWorkWakesWhatIsBehind(t *testing.T) {
	n, err := admit.New(admit.Settings{
		Bounds: law.Bounds{Min: 1, Max: 2, Initial: 2}, Interval: time.Hour, Lookback: time.Hour, MinSamples: 1,
		QueueSize: 9, QueueTimeout: time.Second, Lanes: 1,
	}, law.Fixed{}, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var fx admit.Effects
	second := int64(time.Second)
	var first, next reply.Ticket
	n.Acquire(&first, admit.Work{Weight: 2}, 0, &fx) // teaches a drain rate of 1/s
	n.Done(first, second, window.Success, &fx)
	if v := n.Acquire(&next, admit.Work{Weight: 1}, second, &fx); v != reply.Admitted {
		t.Fatal(v)
	}
	heavy, light := &queue.Waiter{Weight: 2, Owner: deaf{}}, &queue.Waiter{Weight: 1, Owner: deaf{}}
	n.Join(heavy, second, &fx)
	n.Join(light, second+second/2, &fx)
	late := &queue.Waiter{Weight: 1, Owner: deaf{}, Deadline: 2*second + 1000}
	if v := n.Join(late, 2*second, &fx); v != reply.Deadline {
		t.Fatal(v)
	}
	n.Leave(heavy, reply.QueueTimeout, 2*second+10, &fx)
	if v, _ := light.Answer(); v != reply.Admitted {
		t.Errorf("%v, with %+v", v, n.State(2*second+20))
	}
}

type deaf struct{}

func (deaf) Wake()    {}
func (deaf) Recheck() {}

// An expired waiter takes no place in a full queue from a newcomer.
func TestExpiredTakesNoPlace(t *testing.T) {
	n, err := admit.New(admit.Settings{
		Bounds: law.Bounds{Min: 1, Max: 1, Initial: 1}, Interval: time.Hour, Lookback: time.Hour, MinSamples: 1,
		QueueSize: 1, QueueTimeout: time.Second, Lanes: 1,
	}, law.Fixed{}, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var fx admit.Effects
	n.Acquire(new(reply.Ticket), admit.Work{Weight: 1}, 0, &fx)
	n.Join(&queue.Waiter{Weight: 1, Owner: deaf{}}, 0, &fx)
	if v := n.Acquire(new(reply.Ticket), admit.Work{Weight: 1}, int64(2*time.Second), &fx); v != reply.MustWait {
		t.Error(v)
	}
}

// One newcomer in a hurry does not empty the queue of waiters that have time.
func TestHurriedNewcomerLeavesTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := adaptive(t, 1)
		load(t.Context(), l, 1, time.Second, always(100*time.Millisecond))
		hold(t, l, 1)
		patient, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for range 3 {
			ask(patient, l, 1)
		}
		hurried, cancel := context.WithTimeout(t.Context(), 250*time.Millisecond)
		defer cancel()
		ask(hurried, l, 1)
		if s := l.Snapshot(); s.Queued < 3 {
			t.Errorf("%d queued of three with a minute each, refused: %v", s.Queued, s.Refused)
		}
		l.Close()
	})
}
