package isolate_test

import (
	"testing"

	"github.com/weir-go/weir/internal/isolate"
)

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
