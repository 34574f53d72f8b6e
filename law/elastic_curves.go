package law

import "math"

// A shape is a curve of throughput over concurrency, with u = N/K.
const (
	sharp  = iota // u (1+u^6)^(-1/6): a pool of workers, cores that are shared
	soft          // u (1+u^2)^(-1/2): contention
	folded        // u / (1+u/2+u^2): falls past its peak
	shapes
)

// reach bounds |ln u| of the tabulated curves; K and N on the grid are nearer.
const reach = 10

const curvePoints = 2*reach*10 + 1 // one each kneeStep

// curves holds ln f(u) at every kneeStep of ln u from -reach.
var curves = func() (t [shapes][curvePoints]float32) {
	for i := range curvePoints {
		x := float64(kneeStep*float64(i)) - reach
		u := exp(x)
		t[sharp][i] = float32(x - ln(1+exp(6*x))/6)
		t[soft][i] = float32(x - float64(ln(1+float64(u*u))/2))
		t[folded][i] = float32(x - ln(1+float64(u/2)+float64(u*u)))
	}
	return t
}()

// A place is where ln N stands in the table for the first knee. As the grid of knees
// has the table's step, it stands k points lower for knee k.
type place struct {
	point int
	part  float32 // of the way to the next point
}

func (g grid) locate(n float64) place {
	at := min(max((n-g.first()+reach)/kneeStep, knees), curvePoints-3)
	return place{int(at), float32(at - math.Floor(at))}
}

func (p place) value(shape, k int) float32 {
	i := p.point - k
	from, to := curves[shape][i], curves[shape][i+1]
	return toward32(from, to, p.part)
}

func (p place) slope(shape, k int) float32 {
	i := p.point - k
	if p.part > 0.5 {
		i++
	}
	return (curves[shape][i+1] - curves[shape][i-1]) / (2 * kneeStep)
}

// A merit is how good each ln N of the grid is, in ln X.
type merit [knees]float32

// weigh sets j to
//
//	J(N) = E ln X(N) - price ln N + ln P(latency at N <= budget)
//
// without E ln C, which is the same for all N, and returns the best N. The latency has the
// mean N/X by Little's law and a Weibull distribution of the given shape; a
// budget of 0 leaves that term out.
func (j *merit) weigh(b *belief, price, budget, shape float64) float64 {
	const middle = reach * 10
	*j = merit{}
	for s := range shapes {
		for k, p := range b.p[s] {
			if p < negligible {
				continue
			}
			for n, v := range curves[s][middle-k : middle-k+knees] {
				j[n] += float32(p * v)
			}
		}
	}
	scale := gamma(1/shape) * budget
	best := 0
	for n, x := range j {
		at := b.grid.lnKnee(n)
		v := float64(x) - float64(price*at)
		if budget > 0 {
			latency := exp(at - float64(x) - b.capacity)
			inTime := 1 - exp(-power(scale/latency, shape))
			v += ln(max(inTime, leastInTime))
		}
		j[n] = float32(v)
		if j[n] > j[best] {
			best = n
		}
	}
	return exp(b.grid.lnKnee(best))
}

const (
	// negligible hypotheses do not change J by more than the grid does.
	negligible = 1e-6
	// leastInTime keeps J finite where everything would be late.
	leastInTime = 0.007
)

// at interpolates J at N.
func (j *merit) at(g grid, n float64) float64 {
	at := min(max((ln(n)-g.first())/kneeStep, 0), knees-1.001)
	i := int(at)
	return toward(float64(j[i]), float64(j[i+1]), at-math.Floor(at))
}
