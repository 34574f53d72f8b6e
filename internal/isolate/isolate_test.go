package isolate_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/internal/isolate"
	"github.com/weir-go/weir/internal/must"
)

func TestCallTellsHowItEnded(t *testing.T) {
	must.Do(t, isolate.Call(func() {}))
	if err := isolate.Call(runtime.Goexit); !errors.Is(err, isolate.ErrExited) {
		t.Errorf("%v, want that it ended its goroutine", err)
	}
	var panicked *isolate.PanicError
	if err := isolate.Call(func() { panic("boom") }); !errors.As(err, &panicked) || err.Error() != "panicked: boom" ||
		!strings.Contains(string(panicked.Stack), "TestCallTellsHowItEnded") {
		t.Errorf("%v, want that it panicked, and where", err)
	}
}

func TestHookKeepsItsLastFailure(t *testing.T) {
	var none isolate.Hook[int]
	none.Tell(1)
	told := 0
	h := isolate.Hook[int]{Name: "test: OnEvent", Call: func(n int) {
		if told += n; n == 2 {
			panic("boom")
		}
	}}
	for n := range 4 {
		h.Tell(n)
	}
	if err := h.Failure(); told != 6 || err == nil || err.Error() != "test: OnEvent panicked: boom" {
		t.Errorf("told %d, %v", told, err)
	}
	if err := h.Failure(); err != nil {
		t.Errorf("%v a second time", err)
	}
}

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
