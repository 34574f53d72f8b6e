package law

import (
	"math"
	"testing"
	"time"
	"unsafe"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/pid"
)

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
