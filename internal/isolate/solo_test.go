package isolate_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/internal/isolate"
)

// A Solo runs one call at a time, and waits for it as long as it is asked to.
func TestSolo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s isolate.Solo
		if !s.Wait(0) {
			t.Error("a call is running before the first")
		}
		calls := 0
		for range 2 {
			s.Start(func() { calls++; time.Sleep(time.Second) })
		}
		if s.Wait(999*time.Millisecond) || !s.Wait(time.Minute) || calls != 1 {
			t.Errorf("%d calls, want one of a second", calls)
		}
		<-s.Done()
		s.Start(func() { calls++ })
		<-s.Done()
		if calls != 2 {
			t.Errorf("%d calls, want another", calls)
		}
	})
}
