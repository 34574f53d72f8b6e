package sim

import "time"

// A Spacer is [Rates] whose requests come at other distances than in a Poisson process.
type Spacer interface {
	Rates
	// Space returns the growth of the integral of the rate until the next request: always 1 for
	// requests at even distances, an exponential number for a Poisson process. With 0 the next
	// request comes at the instant of the last request, from its client and to its limiter.
	Space() float64
}

// Batches of Size requests come at Rate per second, each batch in one instant and to one limiter,
// as when a request fans out. The batches are a Poisson process, or evenly spaced if Periodic is
// set.
type Batches struct {
	Rate     float64 `json:"rate" range:"(0,1e8]"`
	Size     int     `json:"size" range:"[1,1e6]"`
	Periodic bool    `json:"periodic,omitempty"`
}

// OnOff arrivals have a constant Rate per second for the time On, then no requests for the
// time Off.
type OnOff struct {
	Rate float64       `json:"rate" range:"(0,1e8]"`
	On   time.Duration `json:"on" range:"[1ms,10000h]"`
	Off  time.Duration `json:"off" range:"[1ms,10000h]"`
}

// Rates implements [Arrivals].
func (a Batches) Rates(r *Rand) Rates { return &batching{a, r, 0} }

type batching struct {
	Batches
	rand *Rand
	left int // requests of the batch that have yet to come
}

func (b *batching) Next(time.Duration) (float64, time.Duration) { return b.Rate, Never }

// Space implements [Spacer].
func (b *batching) Space() float64 {
	if b.left > 0 {
		b.left--
		return 0
	}
	b.left = b.Size - 1
	if b.Periodic {
		return 1
	}
	return b.rand.Exp()
}

// Rates implements [Arrivals].
func (a OnOff) Rates(*Rand) Rates { return onOff(a) }

type onOff OnOff

func (o onOff) Next(now time.Duration) (float64, time.Duration) {
	begun := now - now%(o.On+o.Off)
	if now-begun < o.On {
		return o.Rate, begun + o.On
	}
	return 0, begun + o.On + o.Off
}
