package knee

import (
	"math"

	"github.com/weir-go/weir/internal/portable"
)

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
		u := portable.FiniteExp(x)
		t[sharp][i] = float32(x - portable.Log(1+portable.FiniteExp(6*x))/6)
		t[soft][i] = float32(x - float64(portable.Log(1+float64(u*u))/2))
		t[folded][i] = float32(x - portable.Log(1+float64(u/2)+float64(u*u)))
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
