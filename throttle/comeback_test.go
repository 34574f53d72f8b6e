package throttle

import (
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
		{weir.ReasonQueueTimeout, 30 * time.Second, 0, 0, 10 * time.Second},
		{weir.ReasonQueueFull, 0, 0, -time.Second, 10 * time.Millisecond},
	} {
		a := answers{room: now.Add(test.room), paced: 200 * time.Millisecond, full: 50 * time.Millisecond}
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
