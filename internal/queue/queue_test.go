package queue

import (
	"slices"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/reply"
)

// fixed is a node with constant measurements.
type fixed struct {
	latency time.Duration
	rate    float64
	pace    Pace
}

func (f fixed) Quantile(float64) time.Duration { return f.latency }
func (f fixed) DrainRate(int64) float64        { return f.rate }
func (f fixed) Pace() Pace                     { return f.pace }

// A bench holds one queue and its view.
type bench struct {
	*Queue
	view View
}

func newBench(order Order, limit, size int32, m fixed) *bench {
	v := View{Limit: limit, Size: size, Measured: m}
	return &bench{New(order), v}
}

// join makes a waiter join and returns it, with the evicted waiters.
func (b *bench) join(lane int, deadline time.Duration) (*Waiter, Chain) {
	w := &Waiter{Weight: 1, Lane: lane, Deadline: int64(deadline)}
	w.Arrive(b.view.Now)
	verdict, evicted := b.Join(w, int64(time.Minute), b.view)
	w.Verdict = verdict
	return w, evicted
}

// serve takes the next waiter out.
func (b *bench) serve(t *testing.T) *Waiter {
	t.Helper()
	w, _ := b.Next(b.view)
	if w == nil {
		t.Fatal("nothing is next")
	}
	b.Take(w)
	return w
}

func wantChain(t *testing.T, c Chain, why reply.Verdict, want ...*Waiter) {
	t.Helper()
	if got := slices.Collect(c.All()); !slices.Equal(got, want) {
		t.Errorf("evicted %v, want %v", got, want)
	}
	for w := range c.All() {
		if w.Verdict != why {
			t.Errorf("evicted with %v, want %v", w.Verdict, why)
		}
	}
}

func TestDeadlineBehindWhatIsAhead(t *testing.T) {
	for _, order := range []Order{FIFO, Adaptive} {
		b := newBench(order, 10, 100, fixed{latency: 100 * time.Millisecond, rate: 10})
		for i := range 9 {
			if w, _ := b.join(1, time.Duration(1+i)*time.Second); w.Verdict != reply.Waiting {
				t.Fatalf("order %d: waiter %d: %v", order, i, w.Verdict)
			}
		}
		for _, lane := range []int{1, 2} {
			if w, _ := b.join(lane, 1050*time.Millisecond); w.Verdict != reply.Deadline {
				t.Errorf("order %d: in lane %d, with 1.05 s for 0.1 s of work behind nine at ten a second: %v",
					order, lane, w.Verdict)
			}
		}
		if w, _ := b.join(0, 1050*time.Millisecond); w.Verdict != reply.Waiting {
			t.Errorf("order %d: ahead of them: %v", order, w.Verdict)
		}
	}
}

func TestAdaptiveDropsTheLate(t *testing.T) {
	b := newBench(Adaptive, 10, 0, fixed{latency: 10 * time.Millisecond})
	urgent, _ := b.join(1, 100*time.Millisecond)
	if at := time.Duration(urgent.RecheckAt); at != 90*time.Millisecond+1 {
		t.Errorf("its owner looks again after %v, want the moment when it can no longer be in time", at)
	}
	relaxed, _ := b.join(1, time.Second)
	more, _ := b.join(1, 95*time.Millisecond)
	b.view.Now = int64(92 * time.Millisecond)
	next, evicted := b.Next(b.view)
	wantChain(t, evicted, reply.Deadline, more, urgent)
	if next != relaxed || b.Len() != 1 {
		t.Errorf("%d wait", b.Len())
	}
}

// The estimate of how long work takes is renewed, though not for each waiter.
func TestServiceTimeIsRenewed(t *testing.T) {
	b := newBench(Adaptive, 10, 0, fixed{latency: 10 * time.Millisecond})
	for _, c := range []struct{ at, want time.Duration }{
		{time.Millisecond, 10 * time.Millisecond}, {10 * time.Millisecond, 10 * time.Millisecond}, {11 * time.Millisecond, 20 * time.Millisecond},
	} {
		b.view.Now = int64(c.at)
		w, _ := b.join(1, 30*time.Second)
		if got := 30*time.Second + 1 - time.Duration(w.RecheckAt); got != c.want {
			t.Errorf("at %v the work is expected to take %v, want %v", c.at, got, c.want)
		}
		b.view.Measured = fixed{latency: 20 * time.Millisecond}
	}
}

// If the work takes half of its caller's time, the earliest deadline is always on the point of
// becoming late, and whatever starts then ends late. Such a queue is standing too: it has to serve
// the newest.
func TestAdaptiveStandsWhereWorkTakesHalfOfTheTime(t *testing.T) {
	b := newBench(Adaptive, 10, 1000, fixed{latency: 600 * time.Millisecond, rate: 20})
	for range 100 { // 40 a second join, and 20 are served
		b.view.Now += int64(50 * time.Millisecond)
		b.join(1, time.Duration(b.view.Now)+time.Second)
		newest, _ := b.join(1, time.Duration(b.view.Now)+time.Second)
		served := b.serve(t)
		if b.view.Now > int64(2*time.Second) && served != newest {
			t.Fatalf("after %v the queue serves work that has %v left and takes 600ms",
				time.Duration(b.view.Now), time.Duration(served.Deadline-b.view.Now))
		}
	}
}

// A waiter that joins is in the queue, was evicted or refused, under any order.
func TestOrdersLoseNothing(t *testing.T) {
	for order := range orders {
		b := newBench(Order(order), 2, 5, fixed{latency: time.Second, rate: 2})
		gone := 0
		for i := range 40 {
			b.view.Now += int64(100 * time.Millisecond)
			w, evicted := b.join(i%3, 0)
			if w.Verdict != reply.Waiting {
				gone++
			}
			gone += len(slices.Collect(evicted.All()))
			if b.Len()+gone != i+1 || b.Len() > 5 {
				t.Fatalf("order %d: %d joined, %d wait and %d are gone", order, i+1, b.Len(), gone)
			}
		}
		waiting := b.Len()
		var cleared Chain
		for _, more := range []Chain{{}, b.Clear(reply.Closed), {}} {
			cleared.Append(more)
		}
		b.join(0, 0)
		cleared.Append(b.Clear(reply.Closed))
		waiting++
		out := slices.Collect(cleared.All())
		if len(out) != waiting || b.Len() != 0 || b.Oldest() != nil {
			t.Errorf("order %d: %d were evicted of %d", order, len(out), waiting)
		}
		if !slices.IsSortedFunc(out, func(a, b *Waiter) int { return b.Lane - a.Lane }) {
			t.Errorf("order %d: not the lowest lane first", order)
		}
	}
}

func TestWeights(t *testing.T) {
	b := newBench(FIFO, 1, 10, fixed{pace: Pace{Rate: 1, Tokens: -1}})
	check := func(weight int64, pace time.Duration) {
		t.Helper()
		if o := b.outlook(&Waiter{Lane: 1, Deadline: noDeadline}, b.view); b.Weight() != weight || o.pace != int64(pace) {
			t.Errorf("weight %d, and lane 1 waits for %v: want %d and %v", b.Weight(), time.Duration(o.pace), weight, pace)
		}
	}
	first, _ := b.join(1, 0)
	b.join(2, 0)
	check(2, 2*time.Second)
	b.Remove(first)
	check(1, time.Second)
}
