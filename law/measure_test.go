package law

import (
	"math"
	"testing"
	"time"
	"unsafe"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/pid"
)

func TestThroughputCountsWhatRanBefore(t *testing.T) {
	for _, test := range []struct {
		name string
		w    Window
		want float64
	}{
		{"nothing ran before", Window{Elapsed: 2 * time.Second, Samples: 100}, 50},
		{"some did", Window{Elapsed: 2 * time.Second, Samples: 100, First: 20}, 60},
		{"and failed like the rest", Window{
			Elapsed: 2 * time.Second, Samples: 50, Failures: 30, Timeouts: 20, First: 20,
		}, 30},
		{"nothing succeeded", Window{Elapsed: time.Second, Failures: 10, First: 20}, 0},
		{"no time passed", Window{Samples: 10}, 0},
	} {
		if got := throughput(test.w); got != test.want {
			t.Errorf("%s: %v a second, want %v", test.name, got, test.want)
		}
	}
}

func TestLatencyIsWorkInFlightOverThroughput(t *testing.T) {
	w := Window{Elapsed: time.Second, Samples: 100, Mean: 70 * time.Millisecond}
	for _, test := range []struct{ inFlight, want float64 }{
		{10, 0.1}, {0, 0.07}, {-1, 0.07}, {math.NaN(), 0.07}, {math.Inf(1), 0.07}, {math.Inf(-1), 0.07},
	} {
		if w.InFlight = test.inFlight; latency(w) != test.want {
			t.Errorf("%v in flight: %v s, want %v", test.inFlight, latency(w), test.want)
		}
	}
	if got := latency(Window{InFlight: 5, Mean: -1}); got != 0 {
		t.Errorf("nothing measured: %v s", got)
	}
}

func TestEstimateKeepsItsFraction(t *testing.T) {
	var e estimate
	w := Window{Limit: 20, Min: 1, Max: 30}
	if e.at(w) != 20 {
		t.Errorf("starts at %v, want the window's limit", e.at(w))
	}
	if got := e.move(20.8, w); got != 20 || e.at(w) != 20.8 {
		t.Errorf("moved to %v, kept %v", got, e.at(w))
	}
	if w.Limit = 25; e.at(w) != 25 {
		t.Errorf("kept %v though the limit was moved to 25", e.at(w))
	}
	if got := e.move(99, w); got != 30 {
		t.Errorf("moved to %v, beyond the bounds", got)
	}
	if got := e.move(3-1e-12, w); got != 3 {
		t.Errorf("moved to %v, want 3 after rounding", got)
	}
}

// A process may hold a hundred thousand limiters with the same settings.
func TestBandControllersShareTheirSettings(t *testing.T) {
	if size := unsafe.Sizeof(bandController{}); size > 8 {
		t.Errorf("a controller takes %d bytes, want at most 8", size)
	}
	start := func(b Band) *bandController {
		c := must.Have(b.Controller(Bounds{}))(t)
		return c.(*bandController)
	}
	one, other := start(Band{}), start(Band{Step: 1})
	if one.settings != other.settings {
		t.Error("equal settings are held twice")
	}
	if other.Retune(Band{Step: 2}); one.settings == other.settings {
		t.Error("retuning one retuned the other")
	}
}

// The other laws keep their settings and a few numbers.
func TestControllerSizes(t *testing.T) {
	for name, test := range map[string]struct{ size, most uintptr }{
		"aimd":      {unsafe.Sizeof(aimdController{}), 48},
		"gradient":  {unsafe.Sizeof(gradientController{}), 96},
		"gradient2": {unsafe.Sizeof(gradient2Controller{}), 80},
		"vegas":     {unsafe.Sizeof(vegasController{}), 64},
		"little":    {unsafe.Sizeof(littleController{}), 112},
		"pid":       {unsafe.Sizeof(pidController{}) + unsafe.Sizeof(pid.Controller{}), 304},

		"setpoint":                     {unsafe.Sizeof(setpointController{}), 120},
		"setpoint's limit was reached": {unsafe.Sizeof(regulator{}), 320},
	} {
		if test.size > test.most {
			t.Errorf("%s: %d bytes, want at most %d", name, test.size, test.most)
		}
	}
}

func BenchmarkSetpoint(b *testing.B) {
	for _, l := range []Setpoint{{}, {Budget: 300e6}} {
		b.Run(l.String(), func(b *testing.B) {
			c := must.Have(l.Controller(Bounds{Min: 1, Max: 1000, Initial: 20}))(b)
			w := Window{
				Limit: 20, Min: 1, Max: 1000, Elapsed: 100e6, Samples: 60, Refused: 30,
				InFlight: 20, Peak: 20, Mean: 33e6, Deviation: 20e6,
			}
			b.ReportAllocs()
			for b.Loop() {
				d := c.Next(w)
				w.Limit = int(d.Limit)
				w.InFlight = d.Limit
				w.Samples = min(60, w.Limit*3)
			}
		})
	}
}
