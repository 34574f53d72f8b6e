package admit

import "time"

// A Pace bounds how fast work starts, besides how much of it may run. The zero
// Pace bounds nothing.
type Pace struct {
	Rate   float64 // weight per second; 0 is no bound
	Burst  float64 // weight that may start at once after a pause
	Refuse float64 // share of the work that is refused, 0 to 1
}

// pacer is a token bucket that may be in debt: work starts when the debt is 0, and then adds
// its weight to the debt. So work heavier than the burst starts as well, and the rate is
// exact in the long run.
type pacer struct {
	Pace
	tokens float64
	toShed float64 // weight still to refuse
}

// trace is the rounding that a wait for tokens may leave.
const trace = 1e-6

// fill adds the tokens since the last call.
func (p *pacer) fill(elapsed int64) {
	if p.Rate > 0 {
		p.tokens = min(p.Burst, p.tokens+float64(p.Rate*float64(elapsed)/float64(time.Second)))
	}
}

// sheds reports whether arriving work of the given weight is among the share to refuse.
// Refusals are spread evenly, not drawn at random.
func (p *pacer) sheds(weight int) bool {
	p.toShed = p.withNext(weight)
	if p.toShed < float64(weight) {
		return false
	}
	p.toShed -= float64(weight)
	return true
}

// shedsNext reports whether sheds would be true.
func (p *pacer) shedsNext(weight int) bool { return p.withNext(weight) >= float64(weight) }

// withNext is the weight to refuse once work of the given weight has arrived.
func (p *pacer) withNext(weight int) float64 { return p.toShed + float64(p.Refuse*float64(weight)) }
