package throttle

import (
	"math"
	"testing"
	"time"

	"github.com/weir-go/weir"
)

// An operation that is refused comes back when the queue has room and the competition is over, and
// at most when the emergency ends. The time for a queue is never so long that it drains
// meanwhile.
func TestComeback(t *testing.T) {
	now := time.Unix(1000, 0)
	for _, test := range []struct {
		reason            weir.Reason
		told, room, until time.Duration // by the limiter; until there is room, and until an emergency ends
		want              time.Duration
	}{
		{weir.ReasonPace, 1200 * time.Millisecond, 0, 0, 200 * time.Millisecond},
		{weir.ReasonPace, 30 * time.Second, 700 * time.Millisecond, 0, 900 * time.Millisecond},
		{weir.ReasonPace, 30 * time.Second, 700 * time.Millisecond, 300 * time.Millisecond, 300 * time.Millisecond},
		{weir.ReasonPace, 30 * time.Second, -700 * time.Millisecond, 0, 200 * time.Millisecond},
		{weir.ReasonQueueFull, 30 * time.Second, 0, 0, 150 * time.Millisecond},
		{weir.ReasonQueueFull, 200 * time.Millisecond, 0, 0, 100 * time.Millisecond},
		{weir.ReasonOverload, 5 * time.Second, 0, 0, 60 * time.Millisecond},
		{weir.ReasonQueueTimeout, 30 * time.Second, 0, 0, 10 * time.Second},
		{weir.ReasonQueueFull, 0, 0, -time.Second, 10 * time.Millisecond},
	} {
		a := answers{room: now.Add(test.room), paced: 200 * time.Millisecond, full: 50 * time.Millisecond, shed: 60 * time.Millisecond}
		if test.until != 0 {
			a.until = now.Add(test.until)
		}
		c := comeback{patience: time.Second, longest: 10 * time.Second}
		c.answers.Store(&a)
		r := &weir.RefusedError{Reason: test.reason, RetryAfter: test.told}
		c.correct(r, now)
		if r.RetryAfter != test.want {
			t.Errorf("%+v: %v", test, r.RetryAfter)
		}
		if counted := c.refused.Load() == 1; counted != (test.reason != weir.ReasonQueueTimeout) {
			t.Errorf("%v: counted as a rival: %v", test.reason, counted)
		}
	}
}

// The competition takes the longer the more rivals there are, and the fewer places.
func TestComebackLearns(t *testing.T) {
	const tick = 100 * time.Millisecond
	now := time.Unix(1000, 0)
	for _, test := range []struct {
		name              string
		rivals            uint64 // refused in a tick
		rate, before      float64
		refuse            float64
		queued            int
		each              float64
		room, paced, shed time.Duration
	}{
		{"no rivals", 0, 10, 10, 0, 9, 1, 0, 74 * time.Millisecond, 7 * time.Millisecond},
		{"1000 rivals a second", 100, 10, 10, 0, 9, 1, 0, 707 * time.Millisecond, 7 * time.Millisecond},
		{"work of twice the cost", 100, 20, 20, 0, 9, 2, 0, 707 * time.Millisecond, 7 * time.Millisecond},
		{"a quarter of the pace", 0, 10, 40, 0, 40, 1, 753 * time.Millisecond, 22 * time.Millisecond, 7 * time.Millisecond},
		{"nine tenths are refused", 0, 10, 10, 0.9, 9, 1, 0, 74 * time.Millisecond, 70 * time.Millisecond},
		{"all are refused", 0, 10, 10, 1, 9, 1, 0, 74 * time.Millisecond, 10 * time.Second},
	} {
		c := comeback{patience: time.Second, longest: 10 * time.Second}
		s := weir.Snapshot{Queued: test.queued}
		var a answers
		for i := range 101 { // 10 are let in a second
			rate := test.before
			if i == 100 {
				rate = test.rate
			}
			s.Admitted++
			c.refused.Add(test.rivals)
			a = c.learn(s, Pace{Rate: rate, Refuse: test.refuse}, test.each, now, tick)
		}
		check := func(what string, got, want time.Duration) {
			if math.Abs(float64(got-want)) > 0.05*float64(want) {
				t.Errorf("%s: %s is %v, want %v", test.name, what, got, want)
			}
		}
		check("room", a.room.Sub(now), test.room)
		check("the competition", a.paced, test.paced)
		check("a share's", a.shed, test.shed)
	}
}

// A growing pace adds places, and waiters that time out leave theirs.
func TestComebackPlaces(t *testing.T) {
	c := comeback{patience: time.Second, longest: 10 * time.Second, rate: 10}
	if n, room := c.places(9, time.Millisecond); n != 10 || room != 0 {
		t.Errorf("steady: %v places a second, the first in %v s", n, room)
	}
	c.trend = 30
	if n, _ := c.places(9, time.Millisecond); n != 40 {
		t.Errorf("growing by 30/s each second: %v places a second", n)
	}
	c.trend, c.since = -30, 500*time.Millisecond
	if n, room := c.places(21, time.Millisecond); n != 40 || room < 0.26 || room > 0.27 {
		t.Errorf("21 left, the newest from 0.5 s ago: %v places a second, the first in %v s", n, room)
	}
}

// Where rivals are many the time until one of them has a place is exponential, whatever the rates
// are: a place that a rival took says nothing of the next one. An answer of c means is within a
// factor of three with probability exp(-c/3) - exp(-3c), which is 67.5% at best, at c = 3/8 ln 9.
// So nine tenths cannot be had of a limiter that keeps no places for refused callers.
func TestBestAnswer(t *testing.T) {
	within := func(c float64) float64 { return math.Exp(-c/3) - math.Exp(-3*c) }
	best := 3.0 / 8 * math.Log(9)
	for c := 0.01; c < 10; c += 0.01 {
		if within(c) > within(best) {
			t.Errorf("%v is better than %v", c, best)
		}
	}
	if p := within(best); math.Abs(p-0.675) > 0.001 {
		t.Errorf("at best %v", p)
	}
	if within(likely) < within(best)-0.01 {
		t.Errorf("%v is right with probability %v", likely, within(likely))
	}
}
