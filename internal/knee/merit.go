package knee

import (
	"math"

	"github.com/weir-go/weir/internal/portable"
)

// A Merit is how good each ln N of the grid is, in ln X.
type Merit struct {
	j    [knees]float32
	grid grid
}

// Weigh sets j to
//
//	J(N) = E ln X(N) - price ln N + ln P(latency at N <= budget)
//
// without E ln C, which is the same for all N, and returns the best N. The latency has the
// mean N/X by Little's law and a Weibull distribution of the given shape; a
// budget of 0 leaves that term out.
func (j *Merit) Weigh(b *Belief, price, budget, shape float64) float64 {
	const middle = reach * 10
	*j = Merit{grid: b.grid}
	for s := range shapes {
		for k, p := range b.p[s] {
			if p < negligible {
				continue
			}
			for n, v := range curves[s][middle-k : middle-k+knees] {
				j.j[n] += float32(p * v)
			}
		}
	}
	scale := gamma(1/shape) * budget
	best := 0
	for n, x := range j.j {
		at := b.grid.lnKnee(n)
		v := float64(x) - float64(price*at)
		if budget > 0 {
			latency := portable.FiniteExp(at - float64(x) - b.capacity - b.origin)
			inTime := 1 - portable.FiniteExp(-portable.Power(scale/latency, shape))
			v += portable.Log(max(inTime, leastInTime))
		}
		j.j[n] = float32(v)
		if j.j[n] > j.j[best] {
			best = n
		}
	}
	return portable.FiniteExp(b.grid.lnKnee(best))
}

const (
	// negligible hypotheses do not change J by more than the grid does.
	negligible = 1e-6
	// leastInTime keeps J finite where everything would be late.
	leastInTime = 0.007
)

// At interpolates J at N.
func (j *Merit) At(n float64) float64 {
	at := min(max((portable.Log(n)-j.grid.first())/kneeStep, 0), knees-1.001)
	i := int(at)
	return portable.Toward(float64(j.j[i]), float64(j.j[i+1]), at-math.Floor(at))
}
