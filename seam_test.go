package weir_test

import (
	"testing"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/seam"
)

// inside is the internal access that the other packages of this module have to a limiter.
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
