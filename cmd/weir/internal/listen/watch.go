package listen

import (
	"sync"
	"time"
)

// An operation waits for a client.
type operation interface {
	// moved reports whether the client has made progress since the last call.
	moved() bool
	// cut makes the operation fail.
	cut()
}

// A watch cuts an operation that has not moved for the time of a stall. It checks eight times in
// that time. The first check may see a move from before the operation, so the operation lasts at
// most an eighth longer.
//
// Beginning and ending an operation takes a lock but no timer: the timer keeps running
// between operations, and checks the state when it fires.
type watch struct {
	mu      sync.Mutex
	timer   *time.Timer
	ticking bool
	busy    bool // an operation is running
	closed  bool
	stall   time.Duration
	begun   time.Time
	last    time.Time // when it began or last moved
}

// looks is the number of checks before a watch cuts an operation.
const looks = 8

// shortestLook is the least time between two checks. A client that is nearly late has hardly any
// time left, and would be checked all the time while it cannot send.
const shortestLook = 10 * time.Millisecond

// begin starts an operation that may stall for the given time; 0 means any time. Only one
// operation may run at a time.
func (w *watch) begin(stall time.Duration, of operation) {
	if stall <= 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	now := time.Now()
	w.busy, w.stall, w.begun, w.last = true, stall, now, now
	if w.ticking {
		return
	}
	w.ticking = true
	if w.timer == nil {
		w.timer = time.AfterFunc(stall/looks, func() { w.look(of) })
	} else {
		w.timer.Reset(stall / looks)
	}
}

// end ends the operation, and returns the time since the client's last progress. After end has
// returned, the watch does not cut the operation.
func (w *watch) end() (idle time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.busy {
		idle = time.Since(w.last)
	}
	w.busy = false
	return idle
}

// close ends the watch of this operation and of all later operations.
func (w *watch) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.busy, w.closed = false, true
	if w.timer != nil {
		w.timer.Stop()
	}
}

// waiting reports whether an operation has been running for at least the time between two checks.
func (w *watch) waiting() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.busy && time.Since(w.begun) >= w.stall/looks
}

func (w *watch) look(of operation) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.busy {
		w.ticking = false
		return
	}
	now, tick := time.Now(), w.stall/looks
	idle := now.Sub(w.last)
	if of.moved() {
		w.last, idle = now, 0
	}
	if idle >= w.stall {
		w.busy, w.ticking = false, false
		of.cut()
		return
	}
	w.timer.Reset(max(min(tick, w.stall-idle), shortestLook))
}
