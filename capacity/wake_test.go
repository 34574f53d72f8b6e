package capacity_test

import (
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/capacity"
)

// hostile are wakes of an owner that misbehaves.
func hostile(c *capacity.Capacity) map[string]func() {
	request := must(c.Request(capacity.Vector{"slots": 1}))
	return map[string]func(){
		"panics": func() { panic("wake") },
		"exits":  runtime.Goexit,
		"calls us": func() {
			c.Snapshot()
			c.Resource("slots")
			if g, err := c.TryAcquire(request); err == nil {
				g.Release()
			}
			if w, err := c.Reserve(request, func() {}); err == nil {
				w.Cancel()
			}
			_ = c.Withhold("slots", 0)
		},
	}
}

// TestWakeOfAnotherOwner: whatever the wake of one reservation does, the reservation keeps its
// grant, the reservations after it are served and woken, and the one that made room goes on.
func TestWakeOfAnotherOwner(t *testing.T) {
	ways := map[string]func(*capacity.Capacity, capacity.Grant, *capacity.Reservation){
		"Release": func(_ *capacity.Capacity, g capacity.Grant, _ *capacity.Reservation) { g.Release() },
		"Cancel":  func(_ *capacity.Capacity, _ capacity.Grant, first *capacity.Reservation) { first.Cancel() },
		"SetLimit": func(c *capacity.Capacity, _ capacity.Grant, _ *capacity.Reservation) {
			_ = c.SetLimit("slots", 9)
		},
		"Withhold": func(c *capacity.Capacity, _ capacity.Grant, _ *capacity.Reservation) {
			_ = c.Withhold("slots", 0)
		},
	}
	for way, make2Free := range ways {
		for _, name := range []string{"panics", "exits", "calls us"} {
			t.Run(way+" "+name, func(t *testing.T) {
				c, request := slots(t, 4)
				if err := c.Withhold("slots", 2); err != nil {
					t.Fatal(err)
				}
				one := request(1)
				held := must(c.TryAcquire(request(2)))
				var first *capacity.Reservation
				if way == "Cancel" { // the one in front is too large
					held.Release()
					first = must(c.Reserve(request(3), func() {}))
				}
				bad := must(c.Reserve(one, hostile(c)[name]))
				woken := false
				good := must(c.Reserve(one, func() { woken = true }))
				survived := false
				done := make(chan struct{})
				go func() {
					defer close(done)
					make2Free(c, held, first)
					survived = true
				}()
				<-done
				if !survived || !woken {
					t.Errorf("went on: %v, the reservation after it was woken: %v", survived, woken)
				}
				if s := c.Snapshot(); (s.WakeErr != nil) != (name != "calls us") ||
					s.WakeErr != nil && !errors.Is(s.WakeErr, capacity.ErrWake) {
					t.Errorf("WakeErr is %v", s.WakeErr)
				}
				held.Release()
				must(bad.Grant()).Release()
				must(good.Grant()).Release()
				if s := c.Snapshot(); s.Grants != 0 || s.Waiting != 0 || s.Resources["slots"].InUse != 0 {
					t.Errorf("lost: %+v", s)
				}
			})
		}
	}
}

// TestWakeOfAQuota: its timer's goroutine is ours.
func TestWakeOfAQuota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := must(capacity.NewQuota(capacity.Vector{"starts": 1}, capacity.Refill{Every: time.Second}))
		request := must(c.Request(capacity.Vector{"starts": 1}))
		must(c.TryAcquire(request))
		for _, wake := range []func(){func() { panic("wake") }, runtime.Goexit} {
			bad := must(c.Reserve(request, wake))
			time.Sleep(time.Second)
			synctest.Wait()
			if _, err := bad.Grant(); err != nil || c.Snapshot().WakeErr == nil {
				t.Errorf("%v, WakeErr is %v", err, c.Snapshot().WakeErr)
			}
		}
	})
}
