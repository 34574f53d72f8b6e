package pools

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/pool"
)

// chosen is the best of TestScalers, which tries them on other seeds and two other
// downstreams than TestWorkloads does.
var chosen = byLaw(law.Vegas{Alpha: 2, Beta: 4})(4)

// byLaw decides as soon as ten tasks have ended, which happens a few times a second.
func byLaw(l law.Law) func(initial int64) pool.Scaler {
	return func(initial int64) pool.Scaler {
		return pool.ByLaw{Law: l, Initial: initial, Interval: 250 * time.Millisecond, MinSamples: 10}
	}
}

// TestScalers prints how far above the best fixed size each scaler is on downstreams that
// degrade: the mean and the worst of six runs.
//
//	go test . -run Scalers -v
func TestScalers(t *testing.T) {
	var all []workload
	var best []time.Duration
	for seed := uint64(2); seed < 4; seed++ {
		for _, d := range []downstream{
			{8, 3, 8 * time.Second, 20 * time.Second},
			{10, 5, 6 * time.Second, 30 * time.Second},
			{6, 2, 15 * time.Second, 25 * time.Second},
		} {
			w := degrading(rand.New(rand.NewPCG(seed, 1)), d)
			least, _, _ := fixed(t, w)
			all, best = append(all, w), append(best, least)
		}
	}
	for _, s := range []struct {
		name string
		from func(initial int64) pool.Scaler
	}{
		{"Law{Initial: N}", func(n int64) pool.Scaler { return pool.ByLaw{Initial: n} }},
		{"setpoint", byLaw(law.Setpoint{})},
		{"little", byLaw(law.Little{})},
		{"little, alpha 0.8", byLaw(law.Little{Alpha: 0.8})},
		{"gradient", byLaw(law.Gradient{})},
		{"gradient2", byLaw(law.Gradient2{})},
		{"aimd", byLaw(law.AIMD{})},
		{"vegas", byLaw(law.Vegas{})},
		{"vegas, alpha 2, beta 4", byLaw(law.Vegas{Alpha: 2, Beta: 4})},
		{"band, median of 300ms", byLaw(law.Band{Target: 300 * time.Millisecond, Quantile: 0.5, Proportional: true})},
		{"band, p95 of 300ms", func(n int64) pool.Scaler {
			return pool.ByLaw{Law: law.Band{Target: 300 * time.Millisecond}, Initial: n}
		}},
		{"band, p95 of 400ms", func(n int64) pool.Scaler {
			return pool.ByLaw{Law: law.Band{Target: 400 * time.Millisecond}, Initial: n}
		}},
	} {
		for _, initial := range []int64{4, most} {
			var above []float64
			mean := 0.
			for i, w := range all {
				r := faked(t, func() tally { return ours(w, most, s.from(initial)) })
				above = append(above, 100*(r.took.Seconds()/best[i].Seconds()-1))
				mean += above[i] / float64(len(all))
			}
			t.Logf("%-22s from %2d: %+4.0f%%, worst %+4.0f%% of %.0f", s.name, initial, mean, slices.Max(above), above)
		}
	}
}
