package admit

import (
	"time"

	"github.com/weir-go/weir/internal/queue"
)

// A Pace bounds the rate at which work starts, besides the limit on running work. The zero Pace
// bounds nothing.
type Pace struct {
	Rate  float64 // weight per second; 0 is no bound
	Burst float64 // weight that may start at once after a pause
}

// pacer is a token bucket that may be in debt: work starts when the debt is 0, and then adds
// its weight to the debt. So work heavier than the burst starts as well, and the rate is
// exact in the long run. A nil pacer bounds nothing.
type pacer struct {
	Pace
	tokens float64
}

// trace is the debt that rounding may leave after a wait for tokens.
const trace = 1e-6

// fill adds the tokens since the last call.
func (p *pacer) fill(elapsed int64) {
	if p.Rate > 0 {
		p.tokens = min(p.Burst, p.tokens+float64(p.Rate*float64(elapsed)/float64(time.Second)))
	}
}

func (p *pacer) bounds() bool { return p != nil && p.Rate > 0 }

// ready reports whether work may start now.
func (p *pacer) ready() bool { return !p.bounds() || p.tokens >= -trace }

// owe takes the tokens for work that starts.
func (p *pacer) owe(weight int) {
	if p.bounds() {
		p.tokens -= float64(weight)
	}
}

func (p *pacer) bucket() queue.Pace {
	if p == nil {
		return queue.Pace{}
	}
	return queue.Pace{Rate: p.Rate, Tokens: p.tokens}
}
