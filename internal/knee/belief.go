package knee

import "math"

// A Belief is what a filter says at one moment.
type Belief struct {
	p        [shapes][knees]float32 // probability of each hypothesis
	Knee     Normal                 // of ln K
	origin   float64                // of the filter, as is the grid
	capacity float64                // mean of ln C, relative to it
	grid     grid
}

// A Normal is a mean and a variance.
type Normal struct{ Mean, Variance float64 }

// Deviation is the standard deviation.
func (n Normal) Deviation() float64 { return math.Sqrt(n.Variance) }

// moments sums up the weighted values of a distribution.
type moments struct{ weight, sum, squares float64 }

func (m *moments) add(weight, v float64) {
	m.weight += weight
	m.sum += float64(weight * v)
	m.squares += float64(weight * v * v)
}

func (m *moments) normal() Normal {
	mean := m.sum / m.weight
	return Normal{mean, max(0, m.squares/m.weight-float64(mean*mean))}
}

// Believe sets b to what the filter says now.
func (f *Filter) Believe(b *Belief) {
	var index, capacity moments
	for s := range shapes {
		for k, v := range f.score[s] {
			p := likelihood[v]
			b.p[s][k] = float32(p)
			index.add(p, float64(k))
			capacity.add(p, float64(f.lnCapacity(s, k)))
		}
	}
	for s := range shapes {
		for k := range b.p[s] {
			b.p[s][k] /= float32(index.weight)
		}
	}
	knee := index.normal()
	b.Knee = Normal{f.grid.first() + float64(kneeStep*knee.Mean), kneeStep * kneeStep * knee.Variance}
	b.capacity = capacity.sum / capacity.weight
	b.origin, b.grid = f.origin, f.grid
}

// predict returns ln X at ln N, noise of the measurement apart.
func (f *Filter) predict(b *Belief, n float64) Normal {
	at := b.grid.locate(n)
	var m moments
	for s := range shapes {
		for k, p := range b.p[s] {
			m.add(float64(p), float64(f.lnCapacity(s, k)+at.value(s, k))-b.capacity)
		}
	}
	x := m.normal()
	return Normal{b.origin + b.capacity + x.Mean, x.Variance + 1/f.weight}
}

// Elasticity returns dlnX/dlnN at ln N.
func (b *Belief) Elasticity(n float64) Normal {
	at := b.grid.locate(n)
	var m moments
	for s := range shapes {
		for k, p := range b.p[s] {
			m.add(float64(p), float64(at.slope(s, k)))
		}
	}
	return m.normal()
}
