package weir_test

import (
	"testing"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/seam"
)

// inside has the parts of a limiter that other packages of this module use.
var inside = seam.Of[*weir.Limiter, weir.Config, weir.Snapshot, weir.Event]()

func TestSeamIsTyped(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("other types were accepted")
		}
	}()
	seam.Of[weir.Limiter, weir.Config, weir.Snapshot, weir.Event]()
}

func TestConfigIsCompleted(t *testing.T) {
	c, err := inside.Complete(weir.Config{})
	if err != nil || c.Name != "limiter" || c.Max != 100_000 || c.Law == nil {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := inside.New(weir.Config{Max: -1}, nil, admit.Allocation{}); err == nil {
		t.Error("a limiter with a negative Max")
	}
}
