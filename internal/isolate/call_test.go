package isolate_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"

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
