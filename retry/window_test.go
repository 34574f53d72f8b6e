package retry

import (
	"math"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/clock"
	"github.com/weir-go/weir/internal/must"
)

// Seeded lets a throttle draw the same numbers in each run of a test.
func (t *Throttler) Seeded() *Throttler {
	t.random = rand.New(rand.NewPCG(1, 2)).Float64
	return t
}

// A past is all events so far, from which the models count anew each time.
type past[E any] []moment[E]

type moment[E any] struct {
	bucket int64
	event  E
}

// in returns the events of the window that ends in the bucket.
func (p past[E]) in(bucket int64) (events []E) {
	for _, m := range p {
		if m.bucket <= bucket && m.bucket > bucket-buckets {
			events = append(events, m.event)
		}
	}
	return events
}

// step returns how much time passes between two calls: mostly little, sometimes a window or more.
func step(r *rand.Rand, window time.Duration) time.Duration {
	switch r.IntN(100) {
	case 0:
		return time.Duration(r.Int64N(int64(3 * window)))
	case 1:
		return time.Duration(r.Int64N(int64(window)))
	default:
		return time.Duration(r.Int64N(int64(window / 50)))
	}
}

func TestBudgetCountsAsItsModel(t *testing.T) { synctest.Test(t, testBudgetCounts) }

func testBudgetCounts(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 0))
		cfg := BudgetConfig{
			Share: r.Float64(), Window: time.Second + time.Duration(r.Int64N(int64(time.Minute))),
			MinPerSecond: math.Exp(4*r.Float64() - 3),
		}
		b := must.Have(NewBudget(cfg))(t)
		var events past[bool] // true for a retry
		allowed, denied, share := 0, 0, r.Float64()
		for ; len(events) < 500; time.Sleep(step(r, cfg.Window)) {
			bucket := clock.Now() / b.window.width
			if r.Float64() > share {
				b.Deposit()
				events = append(events, moment[bool]{bucket, false})
				continue
			}
			successes, retries := 0.0, 0.0
			for _, retry := range events.in(bucket) {
				if retry {
					retries++
				} else {
					successes++
				}
			}
			left := cfg.Share*successes + cfg.MinPerSecond*cfg.Window.Seconds() - retries
			got := b.Withdraw()
			if got != (left >= 1) && math.Abs(left-1) > 1e-3 {
				t.Fatalf("seed %d, %+v: allowed %v with %v left", seed, cfg, got, left)
			}
			if got {
				events = append(events, moment[bool]{bucket, true})
				allowed++
			} else if denied++; denied > 1000 {
				break
			}
		}
		if allowed == 0 {
			t.Errorf("seed %d, %+v: no retry was allowed", seed, cfg)
		}
	}
}

func TestThrottleCountsAsItsModel(t *testing.T) { synctest.Test(t, testThrottleCounts) }

func testThrottleCounts(t *testing.T) {
	type call struct {
		begun, took     int64
		ended, accepted bool
	}
	refusing := 0
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 1))
		cfg := ThrottlerConfig{
			K:         1 + 2*r.Float64() + 1e-9,
			Window:    time.Second + time.Duration(r.Int64N(int64(time.Minute))),
			MaxReject: 0.5 + r.Float64()/2,
		}
		throttle := must.Have(NewThrottler(cfg))(t)
		throttle.random = r.Float64
		var events past[*call]
		running := map[*call]*Ticket{}
		good := r.Float64()
		for ; len(events) < 1000; time.Sleep(step(r, cfg.Window)) {
			now, width := clock.Now(), int64(cfg.Window)/buckets
			bucket := now / width
			for c, ticket := range running {
				if r.IntN(4) > 0 {
					continue
				}
				c.took, c.ended, c.accepted = now-c.begun, true, r.Float64() < good
				outcome := weir.Overloaded
				if c.accepted {
					outcome = weir.Success
				}
				ticket.Finish(outcome)
				delete(running, c)
			}
			requests, accepts, slowest := 0.0, 0.0, int64(-1)
			for _, c := range events.in(bucket) {
				if c.accepted {
					accepts++
					slowest = max(slowest, c.took)
				}
			}
			for _, c := range events.in(bucket) {
				youngest := (c.begun/width + 1) * width // of its bucket
				if c.ended || slowest >= 0 && now-youngest >= slowest {
					requests++
				}
			}
			want := 0.0
			if requests >= minSamples {
				want = min(max(0, (requests-cfg.K*accepts)/(requests+1)), cfg.MaxReject)
			}
			l := throttle.lane(weir.PriorityNormal)
			l.window.advance(now)
			if got := throttle.share(l, now); math.Abs(got-want) > 1e-9 {
				t.Fatalf("seed %d, %+v: refuses %v, want %v of %v requests, %v accepted",
					seed, cfg, got, want, requests, accepts)
			}
			if want > 0 {
				refusing++
			}
			c := &call{begun: now}
			if ticket, err := throttle.TryAcquire(t.Context()); err == nil {
				running[c] = &ticket
			} else {
				c.ended = true
			}
			events = append(events, moment[*call]{bucket, c})
		}
	}
	if refusing < 1000 {
		t.Errorf("it refused in %d moments only", refusing)
	}
}

// Events at a later time do not count after the clock was turned back, as it is in a bubble.
func TestClockTurnedBack(t *testing.T) {
	b := must.Have(NewBudget(BudgetConfig{}))(t)
	throttle := must.Have(NewThrottler(ThrottlerConfig{}))(t)
	spend := func() {
		allowed := 0
		for b.Withdraw() {
			allowed++
		}
		if allowed != 10 {
			t.Errorf("%d retries, want 10", allowed)
		}
	}
	spend()
	for range 100 {
		if ticket, err := throttle.TryAcquire(t.Context()); err == nil {
			ticket.Finish(weir.Overloaded)
		}
	}
	late, _ := throttle.TryAcquire(weir.WithPriority(t.Context(), weir.PriorityCritical))
	synctest.Test(t, func(t *testing.T) {
		spend()
		for range minSamples {
			ticket, err := throttle.TryAcquire(t.Context())
			if err != nil {
				t.Fatal("refused for what happened later")
			}
			ticket.Finish(weir.Success)
		}
		late.Finish(weir.Success) // it began later, and is no call of this window
		if l := throttle.lane(weir.PriorityCritical); *l.window.current() != (sentBucket{}) {
			t.Errorf("%+v", *l.window.current())
		}
	})
}
