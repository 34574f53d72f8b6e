package knee

import (
	"math"

	"github.com/weir-go/weir/internal/portable"
)

// priorSpread is the variance that is added to what was known of a knee.
const priorSpread = 0.04

// change replaces the posterior by a prior for what follows a change, of which z is the
// first observation. With K, C and the latency R = K/C as they were, its knee is
// near K if the speed changed, near X R if workers came or went, and near
// C N/X if a delay was added.
func (f *Filter) change(b *Belief, z Observation, saturated bool, way Change) {
	var score scores
	for s := range shapes {
		var knee, capacity moments
		for k, p := range b.p[s] {
			knee.add(float64(p), f.grid.lnKnee(k))
			capacity.add(float64(p), float64(f.lnCapacity(s, k)))
		}
		was, c := knee.normal(), capacity.sum/capacity.weight
		sd := math.Sqrt(was.Variance + priorSpread)
		near := func(x, mean float64) float64 {
			d := (x - mean) / sd
			return portable.FiniteExp(-d*d/2) / sd
		}
		rate := z.X - f.origin
		fewer := rate + was.Mean - c
		share := float64(0.7*knee.weight) + 0.1
		for k := range knees {
			x := f.grid.lnKnee(k)
			q := 0.05 + float64(0.35*near(x, was.Mean)) + float64(0.25*near(x, c+z.N-rate))
			if saturated && way == LessWork {
				q += float64(0.3 * near(x, fewer))
			}
			if saturated && way == MoreWork && x > fewer && x < fewer+2 {
				q += 0.3
			}
			score[s][k] = float32(portable.Log(q * share))
		}
	}
	f.weight, f.capacity = 0, [shapes][nodes]int16{}
	f.setScores(&score)
}
