package figures

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
)

func TestMeterCountsSinceTheLastReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lim := weir.Must(weir.New(weir.Config{Law: law.Fixed{}, Initial: 3}))
		meter := NewMeter(lim)
		for range 5 {
			lim.TryAcquire(t.Context())
		}
		time.Sleep(2 * time.Second)
		got := meter.Read()
		if want := (Line{Limit: 3, InFlight: 3, Admitted: 1.5, Refused: 1}); got != want {
			t.Errorf("first reading: %+v, want %+v", got, want)
		}
		time.Sleep(time.Second)
		if got := meter.Read(); got.Admitted != 0 || got.Refused != 0 {
			t.Errorf("nothing happened since: %+v", got)
		}
	})
}

func TestShadowModeCountsAsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lim := weir.Must(weir.New(weir.Config{Law: law.Fixed{}, Initial: 3, Shadow: true}))
		meter := NewMeter(lim)
		for range 5 {
			lim.TryAcquire(t.Context())
		}
		time.Sleep(time.Second)
		if got := meter.Read(); got.Admitted != 3 || got.Refused != 2 {
			t.Errorf("%+v, want 3 admitted and 2 refused", got)
		}
	})
}

func TestMeterOfAKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := must.Have(bulkhead.New(bulkhead.Config{Default: bulkhead.Compartment{Config: weir.Config{Law: law.Fixed{}, Initial: 2}}}))(t)
		meter := NewKeyMeter(set, "a")
		for _, key := range []string{"a", "a", "a", "b"} {
			set.TryAcquire(t.Context(), key)
		}
		time.Sleep(time.Second)
		if got, want := meter.Read(), (Line{Limit: 2, InFlight: 2, Admitted: 2, Refused: 1}); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	})
}

func TestLineStandsBelowItsHeader(t *testing.T) {
	line := Line{Limit: 20, InFlight: 18, Queued: 3, P95: 131 * time.Millisecond, Admitted: 180, Refused: 21}.String()
	if want := "   20   18     3 131ms   180    21"; line != want || len(line) != len(Header) {
		t.Errorf("\n%s\n%s, want\n%s", Header, line, want)
	}
	if !strings.Contains(Line{}.String(), "    - ") {
		t.Error("no latency yet is no number")
	}
}
