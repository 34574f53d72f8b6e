package settings_test

import (
	"cmp"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/settings"
)

func TestNotNegative(t *testing.T) {
	of := settings.ErrConfigOf("test")
	for _, value := range []float64{-1, math.NaN(), math.Inf(1), math.Inf(-1)} {
		if err := settings.NotNegative(of, "Gain", value, "0 or more"); !errors.Is(err, of) {
			t.Errorf("%v: %v", value, err)
		}
	}
	err := cmp.Or(
		settings.NotNegative(of, "Count", 0, "0 or more"),
		settings.NotNegative(of, "Tick", -time.Second, "0 or more"),
		settings.NotNegative(of, "Size", -1, "0 or more"),
	)
	if want := "test: invalid configuration: Tick is -1s: want 0 or more"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
