package sim

import (
	"time"

	"github.com/weir-go/weir/internal/portable"
)

// Arrivals is an arrival process of independent requests (a Poisson process). Its rate is piecewise
// constant; an implementation decides when the rate changes. [Phase].Load multiplies the rate.
type Arrivals interface {
	// Rates starts the process.
	Rates(*Rand) Rates
}

// Rates is a running arrival process.
type Rates interface {
	// Next returns the rate per second from now on, 0 or more, and the time until which it holds,
	// which is not before now. It is called for times in ascending order.
	Next(now time.Duration) (perSecond float64, until time.Duration)
}

// Poisson arrivals have a constant Rate per second.
type Poisson struct {
	Rate float64 `json:"rate" range:"(0,1e8]"`
}

// Bursts is a Markov-modulated Poisson process with two states. In one state requests come at Rate
// per second, for the mean time Calm. In the other state they come at Factor times that rate, for
// the mean time Burst.
type Bursts struct {
	Rate   float64       `json:"rate" range:"(0,1e8]"`
	Factor float64       `json:"factor" range:"[1,1000]"`
	Calm   time.Duration `json:"calm" range:"[1ms,24h]"`
	Burst  time.Duration `json:"burst" range:"[1ms,24h]"`
}

// Diurnal arrivals follow a sine wave, in a thousand steps. Within each Period the rate per second
// goes from Low to High and back, and starts in the middle.
type Diurnal struct {
	Low    float64       `json:"low" range:"(0,1e8]"`
	High   float64       `json:"high" range:"(0,1e8]"`
	Period time.Duration `json:"period" range:"[1ms,10000h]"`
}

// Never is a time that never comes.
const Never = time.Duration(1<<63 - 1)

// Rates implements [Arrivals].
func (a Poisson) Rates(*Rand) Rates { return constantRate(a.Rate) }

type constantRate float64

func (r constantRate) Next(time.Duration) (float64, time.Duration) { return float64(r), Never }

// Rates implements [Arrivals].
func (a Bursts) Rates(r *Rand) Rates { return &bursting{a, r, true} }

type bursting struct {
	Bursts
	rand  *Rand
	burst bool // the state that ends now
}

func (b *bursting) Next(now time.Duration) (float64, time.Duration) {
	b.burst = !b.burst
	rate, stay := b.Rate, b.Calm
	if b.burst {
		rate, stay = b.Rate*b.Factor, b.Burst
	}
	return rate, now + nanoseconds(mul(float64(stay), b.rand.Exp()))
}

// Rates implements [Arrivals].
func (a Diurnal) Rates(*Rand) Rates { return wave(a) }

type wave Diurnal

// steps is the number of pieces of a period of a wave.
const steps = 1000

func (w wave) Next(now time.Duration) (float64, time.Duration) {
	step := max(1, w.Period/steps)
	begun := now - now%step
	middle := (float64(begun/step%steps) + 0.5) / steps
	return mul(0.5, w.Low+w.High) + mul(mul(0.5, w.High-w.Low), portable.SinTurn(middle)), begun + step
}
