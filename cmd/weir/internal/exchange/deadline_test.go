package exchange

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestStoppedDeadlineEndsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls, own := 0, make(chan *deadline, 1)
		d := newDeadline(time.Minute, func(bool) {
			calls++
			d := <-own
			if d.mu.TryLock() {
				t.Error("stop does not wait for the end")
				d.mu.Unlock()
			}
			own <- d
		})
		own <- d
		time.Sleep(time.Hour)
		d.stop()
		d.timer.Reset(0) // as if it had expired just before
		time.Sleep(time.Hour)
		if calls != 1 {
			t.Errorf("%d calls, want 1", calls)
		}
	})
}
