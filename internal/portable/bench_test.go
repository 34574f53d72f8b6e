package portable

import "testing"

func BenchmarkFunctions(b *testing.B) {
	for _, f := range []struct {
		name string
		of   func(float64) float64
	}{{"Log", Log}, {"Exp", Exp}, {"Expm1", Expm1}} {
		b.Run(f.name, func(b *testing.B) {
			x := 0.3
			for b.Loop() {
				x = 0.3 + f.of(x)*1e-9
			}
		})
	}
}
