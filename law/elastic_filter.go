package law

import "math"

// A kneeFilter is a posterior over how throughput X depends on work in flight N,
//
//	ln X = ln C + g(ln N - ln K)
//
// with a hypothesis for each knee K of a grid and each shape g of a curve. The capacity C
// is not on a grid: with normal noise, each hypothesis has its own normal posterior
// of ln C, in closed form. They all saw the same observations, so its variance,
// 1/weight, is the same for all.
type kneeFilter struct {
	score    [shapes][knees]float32 // log of the probability, 0 for the likeliest
	capacity [shapes][knees]float32 // mean of ln C
	weight   float64
	grid     grid
}

const (
	// forget is what a window leaves of the weight of those before: 50 windows
	// count. 0.97 scores 0.5 less on random systems, 0.99 the same.
	forget = 0.98
	// leastScore keeps every hypothesis alive at e^-9 of the likeliest, 3% for
	// all of them together: what was ruled out may have become true.
	leastScore = -9
	ruledOut   = 1.2340980408667956e-4 // e^-9
)

// An observation is a window as a point on the curve.
type observation struct {
	n, x   float64 // ln N and ln X
	weight float64 // inverse of the variance of ln X
}

// absorb takes in an observation and leaves the share keep of the older ones.
//
// Let m be a hypothesis' mean of ln C from observations of weight W, and y what the
// next one, of weight w, says ln C is. Then m moves by (y-m) w/(W+w), and the squared
// residuals around the mean grow by (y-m)² Ww/(W+w): half of that is the score's loss.
func (f *kneeFilter) absorb(z observation, keep float64) {
	old := float64(f.weight * keep)
	f.weight = old + z.weight
	gain := float32(z.weight / f.weight)
	loss := float32(old * z.weight / f.weight / 2)
	at := f.grid.locate(z.n)
	for s := range shapes {
		score, capacity := &f.score[s], &f.capacity[s]
		for k := range knees {
			miss := float32(z.x) - at.value(s, k) - capacity[k]
			capacity[k] += float32(gain * miss)
			score[k] = float32(float32(keep)*score[k]) - float32(loss*miss*miss)
		}
	}
	f.level()
}

// level makes the likeliest hypothesis' score 0.
func (f *kneeFilter) level() {
	most := f.score[0][0]
	for s := range shapes {
		for _, v := range f.score[s] {
			most = max(most, v)
		}
	}
	for s := range shapes {
		for k, v := range f.score[s] {
			f.score[s][k] = max(v-most, leastScore)
		}
	}
}

// A belief is what a filter says at one moment.
type belief struct {
	p        [shapes][knees]float32 // probability of each hypothesis
	knee     normal                 // of ln K
	capacity float64                // mean of ln C
	grid     grid                   // of the filter
}

// A normal is a mean and a variance.
type normal struct{ mean, variance float64 }

func (n normal) deviation() float64 { return math.Sqrt(n.variance) }

// moments sums up the weighted values of a distribution.
type moments struct{ weight, sum, squares float64 }

func (m *moments) add(weight, v float64) {
	m.weight += weight
	m.sum += float64(weight * v)
	m.squares += float64(weight * v * v)
}

func (m *moments) normal() normal {
	mean := m.sum / m.weight
	return normal{mean, max(0, m.squares/m.weight-float64(mean*mean))}
}

func (f *kneeFilter) believe(b *belief) {
	var index, capacity moments
	for s := range shapes {
		for k, v := range f.score[s] {
			p := ruledOut
			if v > leastScore {
				p = exp(float64(v))
			}
			b.p[s][k] = float32(p)
			index.add(p, float64(k))
			capacity.add(p, float64(f.capacity[s][k]))
		}
	}
	for s := range shapes {
		for k := range b.p[s] {
			b.p[s][k] /= float32(index.weight)
		}
	}
	knee := index.normal()
	b.knee = normal{f.grid.first() + float64(kneeStep*knee.mean), kneeStep * kneeStep * knee.variance}
	b.capacity = capacity.sum / capacity.weight
	b.grid = f.grid
}

// predict returns ln X at ln N, noise of the measurement apart.
func (f *kneeFilter) predict(b *belief, n float64) normal {
	at := b.grid.locate(n)
	var m moments
	for s := range shapes {
		for k, p := range b.p[s] {
			m.add(float64(p), float64(f.capacity[s][k]+at.value(s, k))-b.capacity)
		}
	}
	x := m.normal()
	return normal{x.mean + b.capacity, x.variance + 1/f.weight}
}

// elasticity returns dlnX/dlnN at ln N.
func (b *belief) elasticity(n float64) normal {
	at := b.grid.locate(n)
	var m moments
	for s := range shapes {
		for k, p := range b.p[s] {
			m.add(float64(p), float64(at.slope(s, k)))
		}
	}
	return m.normal()
}
