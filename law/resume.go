package law

import "time"

// Knowledge is the knowledge of a law about a downstream, for a limiter that takes over from
// another one, as after a restart.
type Knowledge struct {
	Limit  int           // to go on from, 0 if nothing was learned
	NoLoad time.Duration // latency without load, 0 if unknown
}

// A Resumer is a [Controller] whose knowledge can outlive it. A law without one keeps only its
// limit.
type Resumer interface {
	Controller

	// Learned returns the knowledge so far, at this limit.
	Learned(limit int) Knowledge

	// Resume is called before the first Next, with a limit within the bounds.
	Resume(Knowledge)
}

// Learned returns the knowledge of a controller at a limit.
func Learned(c Controller, limit int) Knowledge {
	if r, ok := c.(Resumer); ok {
		return r.Learned(limit)
	}
	return Knowledge{Limit: limit}
}

// Resume returns a law that starts from the knowledge of an earlier controller of l, within the
// bounds. Without knowledge it starts as l does.
func Resume(l Law, k Knowledge) Law { return resumed{l, k} }

type resumed struct {
	Law
	knowledge Knowledge
}

// Start returns the limit to go on from.
func (r resumed) Start() int {
	if r.knowledge.Limit > 0 {
		return r.knowledge.Limit
	}
	return Start(r.Law)
}

func (r resumed) Controller(b Bounds) (Controller, error) {
	k := r.knowledge
	if k.Limit > 0 {
		b.Initial = min(max(k.Limit, b.Min), b.Max)
		k.Limit = b.Initial
	}
	c, err := r.Law.Controller(b)
	if resumer, ok := c.(Resumer); ok && err == nil && k.Limit > 0 {
		resumer.Resume(k)
	}
	return c, err
}
