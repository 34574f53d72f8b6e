package knee

// A Filter is a posterior over how throughput X depends on work in flight N,
//
//	ln X = ln C + g(ln N - ln K)
//
// with a hypothesis for each knee K of a grid and each shape g of a curve. The capacity C
// is not on a grid: with normal noise, each hypothesis has its own normal posterior
// of ln C, in closed form. They all saw the same observations, so its variance,
// 1/weight, is the same for all.
type Filter struct {
	weight   float64
	origin   float64              // ln X of the first observation; ln C is kept relative to it
	dice     uint32               // see rounded
	grid     grid                 // of knees
	capacity [shapes][nodes]int16 // mean of ln C, in capacityStep
	score    [shapes][knees]uint8 // log of the probability below that of the likeliest, in scoreStep
}

const (
	// forget is what a window leaves of the weight of those before: 50 windows
	// count. 0.97 scores 0.5 less on random systems, 0.99 the same.
	forget = 0.98
	// leastScore keeps every hypothesis alive at e^-9 of the likeliest, 3% for
	// all of them together: what was ruled out may have become true.
	leastScore = -9
)

// An Observation is a window as a point on the curve.
type Observation struct {
	N, X   float64 // ln N and ln X
	Weight float64 // inverse of the variance of ln X
}

// Absorb takes in an observation, and forgets a part of the older ones.
func (f *Filter) Absorb(z Observation) { f.absorb(z, forget) }

// absorb takes in an observation and leaves the share keep of the older ones.
//
// Let m be a hypothesis' mean of ln C from observations of weight W, and y what the
// next one, of weight w, says ln C is. Then m moves by (y-m) w/(W+w), and the squared
// residuals around the mean grow by (y-m)² Ww/(W+w): half of that is the score's loss.
func (f *Filter) absorb(z Observation, keep float64) {
	if f.weight == 0 {
		f.origin = z.X
	}
	old := float64(f.weight * keep)
	f.weight = old + z.Weight
	gain := float32(z.Weight / f.weight)
	loss := float32(old * z.Weight / f.weight / 2)
	at := f.grid.locate(z.N)
	var score scores
	for s := range shapes {
		for k := range knees {
			miss := f.miss(z, at, s, k)
			score[s][k] = float32(float32(keep)*f.lnScore(s, k)) - float32(loss*miss*miss)
		}
		for node := range nodes {
			k := 2 * node
			f.setCapacity(s, node, f.lnCapacity(s, k)+float32(gain*f.miss(z, at, s, k)))
		}
	}
	f.setScores(&score)
}

// miss is how far an observation is above what a hypothesis predicts.
func (f *Filter) miss(z Observation, at place, s, k int) float32 {
	return float32(z.X-f.origin) - at.value(s, k) - f.lnCapacity(s, k)
}
