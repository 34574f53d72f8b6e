package law

import (
	"testing"

	"github.com/weir-go/weir/internal/must"
)

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
