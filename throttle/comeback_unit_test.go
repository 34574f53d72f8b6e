package throttle

import (
	"testing"
	"time"

	"github.com/weir-go/weir"
)

// One who is refused comes back when there is a place in the queue, which each that waits leaves after its patience at the latest, and
// at most when the emergency ends.
func TestComeback(t *testing.T) {
	now := time.Unix(1000, 0)
	for _, test := range []struct {
		reason      weir.Reason
		told, until time.Duration // of the limiter; of an emergency
		want        time.Duration
	}{
		{weir.ReasonPace, 1200 * time.Millisecond, 0, 90 * time.Millisecond},
		{weir.ReasonPace, 30 * time.Second, 0, 935 * time.Millisecond},
		{weir.ReasonQueueFull, 30 * time.Second, 200 * time.Millisecond, 200 * time.Millisecond},
		{weir.ReasonPace, 500 * time.Millisecond, 0, 50 * time.Millisecond},
		{weir.ReasonOverload, 5 * time.Second, 0, 50 * time.Millisecond},
		{weir.ReasonQueueTimeout, 30 * time.Second, 0, 10 * time.Second},
	} {
		c := comeback{patience: time.Second, longest: 10 * time.Second}
		c.turn.Store(int64(50 * time.Millisecond))
		if test.until > 0 {
			c.until.Store(now.Add(test.until).UnixNano())
		}
		r := &weir.RefusedError{Reason: test.reason, RetryAfter: test.told}
		c.correct(r, now)
		if got := r.RetryAfter.Round(5 * time.Millisecond); got != test.want {
			t.Errorf("%v, %v by the limiter, in an emergency for %v: %v, want %v", test.reason, test.told, test.until, got, test.want)
		}
	}
}

// One who asks again and again is let in the later the more ask, and the fewer are let in.
func TestComebackLearns(t *testing.T) {
	c := comeback{longest: 10 * time.Second}
	var s weir.Snapshot
	s.Refused = map[weir.Reason]uint64{}
	turn := func() time.Duration { return time.Duration(c.turn.Load()).Round(10 * time.Millisecond) }
	for range 100 { // 10 let in a second, and 990 refused
		s.Admitted++
		s.Refused[weir.ReasonPace] += 99
		c.learn(s, 100*time.Millisecond)
	}
	if got := turn(); got != time.Second {
		t.Errorf("1 of 100 is let in: %v", got)
	}
	for range 30 {
		c.learn(s, 100*time.Millisecond)
	}
	if got := turn(); got < 3*time.Second {
		t.Errorf("none for 3 s: %v", got)
	}
}
