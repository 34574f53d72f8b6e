package throttle

import (
	"testing"
	"time"

	"github.com/weir-go/weir"
)

// An operation that is refused comes back when the competition for a place is over, and at most
// when the emergency ends. The time for a queue is never so long that it drains meanwhile.
func TestComeback(t *testing.T) {
	now := time.Unix(1000, 0)
	for _, test := range []struct {
		reason            weir.Reason
		told, wait, until time.Duration // by the limiter; for a place, and until an emergency ends
		want              time.Duration
	}{
		{weir.ReasonPace, 30 * time.Second, 200 * time.Millisecond, 0, 200 * time.Millisecond},
		{weir.ReasonPace, 30 * time.Second, 900 * time.Millisecond, 300 * time.Millisecond, 300 * time.Millisecond},
		{weir.ReasonQueueFull, 30 * time.Second, 50 * time.Millisecond, 0, 150 * time.Millisecond},
		{weir.ReasonQueueFull, 200 * time.Millisecond, 50 * time.Millisecond, 0, 100 * time.Millisecond},
		{weir.ReasonQueueTimeout, 30 * time.Second, 50 * time.Millisecond, 0, 10 * time.Second},
		{weir.ReasonQueueFull, 0, 50 * time.Millisecond, -time.Second, 10 * time.Millisecond},
	} {
		a := answer{wait: test.wait}
		if test.until != 0 {
			a.until = now.Add(test.until)
		}
		var c comeback
		c.answer.Store(&a)
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

// A hundred operations a second were let in. A slower pace leaves fewer places, and rivals take
// them.
func TestCompetition(t *testing.T) {
	c := comeback{lets: 100, let: 100, count: 0}
	wait := func(pace float64, refused uint64) time.Duration {
		c.refused.Add(refused)
		c.let++
		c.learn(weir.Snapshot{Admitted: c.let}, pace, time.Time{}, 10*time.Millisecond)
		return c.answer.Load().wait.Round(time.Millisecond)
	}
	for _, test := range []struct {
		pace    float64
		refused uint64
		want    time.Duration
	}{
		{0, 0, 11 * time.Millisecond},
		{1000, 0, 11 * time.Millisecond},
		{10, 0, 74 * time.Millisecond},
		{10, 100, 351 * time.Millisecond},
		{0.1, 0, 10 * time.Second},
	} {
		if got := wait(test.pace, test.refused); got != test.want {
			t.Errorf("a pace of %v and %d more rivals: %v, want %v", test.pace, test.refused, got, test.want)
		}
	}
}
