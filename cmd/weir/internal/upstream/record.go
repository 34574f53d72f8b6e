package upstream

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weir-go/weir/cmd/weir/internal/config"
)

// A record is the state of an address. Pools before and after a reload share it. Its methods
// receive the time.
type record struct {
	changes *atomic.Uint64 // counts changes that may affect the rotation; shared by all records of an upstream

	inFlight atomic.Int64
	requests atomic.Uint64
	failures atomic.Uint64

	// Written with the lock held, and read without it by each request.
	failed    atomic.Int64  // failed requests in a row
	ejections atomic.Uint64 // a request's result counts only if no ejection came since it began

	mu           sync.Mutex
	unhealthy    bool
	differ       int // checks in a row that contradict unhealthy
	nextCheck    time.Time
	ejectedUntil time.Time
	sickSince    time.Time // when it became unhealthy or was ejected, whichever is later
	lastError    string
}

// succeed records that a request got an answer. ejections is the count at the request's
// beginning.
func (r *record) succeed(ejections uint64) {
	if r.failed.Load() == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if ejections == r.ejections.Load() {
		r.failed.Store(0)
	}
}

// fail records that a request failed, and reports whether that ejects the address.
func (r *record) fail(why string, ejections uint64, eject config.Eject, now time.Time) bool {
	r.failures.Add(1)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lastError = why
	if ejections != r.ejections.Load() { // old evidence, which has already led to an ejection
		return false
	}
	inRow := r.failed.Add(1)
	if eject.Failures <= 0 || inRow < int64(eject.Failures) || now.Before(r.ejectedUntil) {
		return false
	}
	r.ejections.Add(1)
	r.ejectedUntil = now.Add(time.Duration(eject.For))
	r.sickSince = now
	r.changes.Add(1)
	return true
}

// check records the result of a check, and reports whether it changes the address's health.
func (r *record) check(err error, health config.Health, now time.Time) (changed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.lastError = err.Error()
	}
	if (err != nil) == r.unhealthy {
		r.differ = 0
		return false
	}
	r.differ++
	needed := health.Failures
	if r.unhealthy {
		needed = health.Passes
	}
	if r.differ < needed {
		return false
	}
	r.unhealthy, r.differ = !r.unhealthy, 0
	if r.unhealthy {
		r.sickSince = now
	}
	r.changes.Add(1)
	return true
}

// forgetHealth resets the health when checks are switched off.
func (r *record) forgetHealth() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unhealthy, r.differ, r.nextCheck = false, 0, time.Time{}
	r.changes.Add(1)
}

// checkIn returns the time until the next check. If it is 0, the caller must check now, and
// no other caller checks until the next one. The first check is at a random time, and the
// interval varies by a tenth, so that proxies and addresses do not check in step.
func (r *record) checkIn(interval time.Duration, now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.nextCheck.IsZero() || r.nextCheck.Sub(now) > 2*interval { // or the interval was longer before a reload
		r.nextCheck = now.Add(rand.N(max(interval, 1)))
	}
	if wait := r.nextCheck.Sub(now); wait > 0 {
		return wait
	}
	r.nextCheck = now.Add(interval*9/10 + rand.N(max(interval/5, 1)))
	return 0
}

// sick reports whether the address should be out of rotation, since when, and the end of its
// ejection, if it is ejected.
func (r *record) sick(checked bool, now time.Time) (sick bool, since, until time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if ejected := now.Before(r.ejectedUntil); ejected {
		return true, r.sickSince, r.ejectedUntil
	}
	return checked && r.unhealthy, r.sickSince, time.Time{}
}
