package sim

import (
	"math"
	"math/rand/v2"

	"github.com/weir-go/weir/internal/portable"
)

// A Rand is a source of random numbers that gives the same sequence, bit by bit,
// on every machine.
type Rand struct{ pcg rand.PCG }

// Each of these purposes has its own generator, so that a law that refuses more requests does not
// change the random numbers of other requests.
const (
	arrivalStream = iota + 1
	rateStream
	workStream
	clientStream
	retryStream
)

// NewRand returns the generator of one stream of a seed. The streams of a seed are independent of
// one another. A simulation uses the streams 1 to 5.
func NewRand(seed, stream uint64) *Rand {
	r := &Rand{}
	r.pcg.Seed(seed, stream*0x9e3779b97f4a7c15) // the golden ratio spreads small numbers
	return r
}

// Float64 returns a number from 0 to less than 1.
func (r *Rand) Float64() float64 { return float64(r.pcg.Uint64()>>11) / (1 << 53) }

// Exp returns an exponential number with mean 1.
func (r *Rand) Exp() float64 { return -portable.Log(1 - r.Float64()) }

// Normal returns a normal number with mean 0 and deviation 1, by Marsaglia's
// polar method.
func (r *Rand) Normal() float64 {
	for {
		u, v := 2*r.Float64()-1, 2*r.Float64()-1
		if s := mul(u, u) + mul(v, v); s > 0 && s < 1 {
			return mul(u, math.Sqrt(-2*portable.Log(s)/s))
		}
	}
}

// N returns a whole number from 0 to less than n.
func (r *Rand) N(n int) int { return int(mul(r.Float64(), float64(n))) }

// mul returns a product that is rounded before it is added to anything.
func mul(a, b float64) float64 { return float64(a * b) }
