package retry

import (
	"cmp"
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/clock"
)

// minSamples is the number of requests that the throttle needs before it refuses. It equals
// MinSamples of a limiter. Without this minimum, the throttle would refuse the call after one
// failed call with probability 1/2.
const minSamples = 20

// ThrottlerConfig configures a [Throttler]. The zero ThrottlerConfig works; 0 always means the
// default.
type ThrottlerConfig struct {
	// K is the number of calls that are sent for each accepted call. A smaller K sends fewer calls
	// in vain, but notices later that the downstream accepts more calls. Defaults to 2; above 1 and
	// up to 100.
	K float64

	// Window is how far back the throttle looks. In a full outage it refuses the first call after
	// Window*(1-1/K). Defaults to 30 s; from 1 s to 1 h.
	Window time.Duration

	// MaxReject is the greatest share of calls that the throttle refuses. The other calls show when
	// the downstream is back. Defaults to 0.9; up to 1.
	MaxReject float64
}

// A Throttler refuses calls that their downstream would refuse, before they are sent: the
// adaptive throttling of the SRE book, with counts for each priority. Its methods are safe
// for concurrent use and take time independent of the traffic. Make one with [NewThrottler];
// the zero Throttler is not usable.
type Throttler struct {
	k, most float64
	length  time.Duration
	random  func() float64

	mu    sync.Mutex
	lanes [priorities]*window // of calls that ended or were refused, by priority; nil until used
}

const priorities = int(weir.PriorityLow-weir.PriorityCritical) + 1

// NewThrottler returns a throttle. Its error matches [weir.ErrConfig].
func NewThrottler(cfg ThrottlerConfig) (*Throttler, error) {
	cfg.K = cmp.Or(cfg.K, 2)
	cfg.Window = cmp.Or(cfg.Window, 30*time.Second)
	cfg.MaxReject = cmp.Or(cfg.MaxReject, 0.9)
	if err := cmp.Or(
		inRange("Throttler.K", cfg.K, 1, 100),
		lasts("Throttler.Window", cfg.Window, time.Second, time.Hour),
		inRange("Throttler.MaxReject", cfg.MaxReject, 0, 1),
	); err != nil {
		return nil, err
	}
	return &Throttler{k: cfg.K, most: cfg.MaxReject, length: cfg.Window, random: rand.Float64}, nil
}

// TryAcquire decides whether to send a call with the [weir.Priority] of ctx. If the error is nil,
// send the call, and call [Ticket.Finish] with its outcome. Otherwise the error is
// [weir.ErrOverload]. A nil ctx counts as context.Background.
func (t *Throttler) TryAcquire(ctx context.Context) (Ticket, error) {
	p := weir.PriorityFrom(ctx)
	if t.refuses(p) {
		return Ticket{}, weir.ErrOverload
	}
	return Ticket{t, p}, nil
}

// refuses reports whether the next call is refused, and if so counts it.
func (t *Throttler) refuses(p weir.Priority) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.lane(p)
	if t.random() >= t.share(w) {
		return false
	}
	w.current().requests++
	return true
}

// lane returns the present window of a priority.
func (t *Throttler) lane(p weir.Priority) *window {
	i := min(max(p, weir.PriorityCritical), weir.PriorityLow) - weir.PriorityCritical
	if t.lanes[i] == nil {
		t.lanes[i] = newWindow(t.length)
	}
	t.lanes[i].advance(clock.Now())
	return t.lanes[i]
}

func (t *Throttler) share(w *window) float64 {
	sum := w.sum()
	if sum.requests < minSamples {
		return 0
	}
	requests := float64(sum.requests)
	p := (requests - t.k*float64(sum.answers)) / (requests + 1)
	return min(max(p, 0), t.most)
}

// A Ticket is a call that a [Throttler] let pass. The zero Ticket belongs to no call. A
// Ticket must not be copied or used concurrently.
type Ticket struct {
	throttle *Throttler
	priority weir.Priority
}

// Finish records the outcome of the call. Only the first Finish counts.
func (k *Ticket) Finish(o weir.Outcome) {
	if k.throttle == nil {
		return
	}
	k.throttle.mu.Lock()
	defer k.throttle.mu.Unlock()
	bucket := k.throttle.lane(k.priority).current()
	k.throttle = nil
	switch o {
	case weir.Success, weir.Failure, weir.Late:
		bucket.requests++
		bucket.answers++
	case weir.Overloaded, weir.Timeout:
		bucket.requests++
	}
}

// buckets is the number of parts of a window. An event leaves the window up to a twentieth of its
// length early.
const buckets = 20

// A window counts recent events, in buckets of equal width.
type window struct {
	width  int64
	newest int64 // number of the bucket of the latest time seen
	ring   [buckets]counts
}

// counts has the requests of a throttle, or the retries of a budget, and the answers that allow
// more of them.
type counts struct{ requests, answers int }

func newWindow(length time.Duration) *window { return &window{width: int64(length) / buckets} }

func (w *window) sum() (sum counts) {
	for _, b := range w.ring {
		sum.requests += b.requests
		sum.answers += b.answers
	}
	return sum
}

// advance drops events that have left the window. now is a time of internal/clock, far above
// 0. If the clock was turned back, as for a client that was made outside of a
// testing/synctest bubble, the window begins anew.
func (w *window) advance(now int64) {
	number := now / w.width
	switch past := number - w.newest; {
	case past < 0, past >= buckets:
		clear(w.ring[:])
	default:
		for n := w.newest + 1; n <= number; n++ {
			*w.slot(n) = counts{}
		}
	}
	w.newest = number
}

// slot returns the place of a bucket in the ring.
func (w *window) slot(number int64) *counts { return &w.ring[number%buckets] }

func (w *window) current() *counts { return w.slot(w.newest) }
