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
	inFlight atomic.Int64
	requests atomic.Uint64
	failures atomic.Uint64

	// These fields are written with the lock held, and each request reads them without the lock.
	failed       atomic.Int64  // failed requests in a row
	ejections    atomic.Uint64 // a request's result counts only if no ejection came since it began
	unhealthy    atomic.Bool
	ejectedUntil atomic.Pointer[time.Time] // nil before the first ejection

	mu        sync.Mutex
	differ    int // checks in a row that contradict unhealthy
	nextCheck time.Time
	sickSince time.Time // when it became unhealthy or was ejected, whichever is later
	lastError string
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
	if eject.Failures <= 0 || inRow < int64(eject.Failures) || r.isEjected(now) {
		return false
	}
	until := now.Add(time.Duration(eject.For))
	r.ejections.Add(1)
	r.ejectedUntil.Store(&until)
	r.sickSince = now
	return true
}

// check records the result of a check, and reports whether it changes the address's health.
func (r *record) check(err error, health config.Health, now time.Time) (changed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.lastError = err.Error()
	}
	unhealthy := r.unhealthy.Load()
	if (err != nil) == unhealthy {
		r.differ = 0
		return false
	}
	r.differ++
	needed := health.Failures
	if unhealthy {
		needed = health.Passes
	}
	if r.differ < needed {
		return false
	}
	r.unhealthy.Store(!unhealthy)
	r.differ = 0
	if !unhealthy {
		r.sickSince = now
	}
	return true
}

// forgetHealth resets the health when checks are switched off.
func (r *record) forgetHealth() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unhealthy.Store(false)
	r.differ, r.nextCheck = 0, time.Time{}
}

// checkIn returns the time until the next check. If it is 0, the caller must check now, and no
// other caller checks until the next check. The first check is at a random time, and the interval
// varies by a tenth, so that proxies and addresses do not check in step.
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

func (r *record) isEjected(now time.Time) bool {
	until := r.ejectedUntil.Load()
	return until != nil && now.Before(*until)
}

// sick reports whether the address should be out of rotation, and the time since which it is sick.
func (r *record) sick(checked bool, now time.Time) (sick bool, since time.Time) {
	if !r.isEjected(now) && (!checked || !r.unhealthy.Load()) {
		return false, time.Time{}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return true, r.sickSince
}
