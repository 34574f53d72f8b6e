package retry_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/retry"
)

func newThrottle(t *testing.T, cfg retry.ThrottlerConfig) *retry.Throttler {
	t.Helper()
	return must.Have(retry.NewThrottler(cfg))(t).Seeded()
}

// sends ends n calls with the outcome at once, and returns how many were sent.
func sends(throttle *retry.Throttler, p weir.Priority, n int, o weir.Outcome) (sent int) {
	for range n {
		if ticket, err := throttle.TryAcquire(weir.WithPriority(context.Background(), p)); err == nil {
			ticket.Finish(o)
			sent++
		}
	}
	return sent
}

// TestThrottleAtAColdStart: a hundred calls at once, which the downstream accepts a second later.
func TestThrottleAtAColdStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		throttle := newThrottle(t, retry.ThrottlerConfig{})
		for range 5 {
			var tickets []retry.Ticket
			for range 100 {
				ticket, err := throttle.TryAcquire(t.Context())
				if err != nil {
					t.Fatal("refused, and the downstream refused nothing")
				}
				tickets = append(tickets, ticket)
			}
			time.Sleep(time.Second)
			for i := range tickets {
				tickets[i].Finish(weir.Success)
				// Two, because a share of 0.9 refuses one of two calls at random.
				if i == 0 && sends(throttle, weir.PriorityNormal, 2, weir.Success) < 2 {
					t.Fatal("refused when the first of them was answered")
				}
			}
		}
	})
}

// TestThrottleSeesCallsThatTimeOut: 50 calls a second, which hang from the second minute on and
// time out after 5 s.
func TestThrottleSeesCallsThatTimeOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		throttle := newThrottle(t, retry.ThrottlerConfig{})
		began, refused := time.Now(), time.Duration(0)
		for refused == 0 && time.Since(began) < 2*time.Minute {
			time.Sleep(20 * time.Millisecond)
			ticket, err := throttle.TryAcquire(t.Context())
			switch {
			case err != nil:
				refused = time.Since(began)
			case time.Since(began) < time.Minute:
				ticket.Finish(weir.Success)
			default:
				time.AfterFunc(5*time.Second, func() { ticket.Finish(weir.Timeout) })
			}
		}
		if after := refused - time.Minute; after < 16*time.Second || after > 22*time.Second {
			t.Errorf("the first call was refused after %v, want half a window and half a timeout, 17.5 s", after)
		}
	})
}

// TestThrottleRecovers: 100 calls a second, all refused for two minutes, and then all accepted.
func TestThrottleRecovers(t *testing.T) {
	for most, want := range map[float64]struct{ leastSent, mostSent, least, most int }{ // seconds until 95 of 100 are sent
		0.9: {1000, 1400, 40, 70},
		1:   {1, 120, 75, 1000}, // so few calls are sent that chance decides
	} {
		synctest.Test(t, func(t *testing.T) {
			throttle := newThrottle(t, retry.ThrottlerConfig{MaxReject: most})
			second := func(o weir.Outcome) (sent int) {
				for range 100 {
					time.Sleep(10 * time.Millisecond)
					sent += sends(throttle, weir.PriorityNormal, 1, o)
				}
				return sent
			}
			out := 0
			for range 120 {
				out += second(weir.Overloaded)
			}
			took := 1
			for second(weir.Success) < 95 {
				took++
			}
			t.Logf("MaxReject %v: %d of 12000 sent during the outage, %d s to recover", most, out, took)
			if out < want.leastSent || out > want.mostSent || took < want.least || took > want.most {
				t.Errorf("MaxReject %v: %d sent during the outage, %d s to recover, want %+v", most, out, took, want)
			}
		})
	}
}

func TestThrottleTellsPrioritiesApart(t *testing.T) {
	throttle := newThrottle(t, retry.ThrottlerConfig{})
	if n := sends(throttle, weir.PriorityLow, 1000, weir.Overloaded); n > 200 {
		t.Errorf("%d low calls of 1000 sent, want about a tenth", n)
	}
	if n := sends(throttle, weir.PriorityCritical, 100, weir.Success); n != 100 {
		t.Errorf("%d critical calls of 100 sent", n)
	}
	if n := sends(throttle, weir.PriorityLow+100, 100, weir.Success) + sends(throttle, weir.PriorityCritical-100, 100,
		weir.Success); n > 150 || n < 100 {
		t.Errorf("%d sent with priorities beyond the ends, want a tenth of the low ones and all of the critical ones",
			n)
	}
}

func TestThrottleForgetsWhatWasIgnored(t *testing.T) {
	throttle := newThrottle(t, retry.ThrottlerConfig{})
	if n := sends(throttle, weir.PriorityNormal, 1000, weir.Ignore); n != 1000 {
		t.Errorf("%d of 1000 sent, none of which says anything", n)
	}
	if n := sends(throttle, weir.PriorityNormal, 20, weir.Overloaded); n != 20 {
		t.Errorf("%d of 20 sent", n)
	}
}

func TestTicketFinishesOnce(t *testing.T) {
	throttle := newThrottle(t, retry.ThrottlerConfig{})
	var tickets []retry.Ticket
	for range 100 {
		tickets = append(tickets, must.Have(throttle.TryAcquire(t.Context()))(t))
	}
	for _, ticket := range tickets {
		ticket.Finish(weir.Overloaded)
		ticket.Finish(weir.Success)
		ticket.Finish(weir.Success)
	}
	if n := sends(throttle, weir.PriorityNormal, 100, weir.Overloaded); n > 50 {
		t.Errorf("%d of 100 sent, want about a tenth: a later Finish counted", n)
	}
	new(retry.Ticket).Finish(weir.Success)
}
