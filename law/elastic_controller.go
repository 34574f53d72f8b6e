package law

import "time"

// An elasticController costs little until the limiter first saturates.
type elasticController struct {
	Elastic
	pulse   pulse
	usual   float64 // seconds that work takes while the limit is not reached, 0 if not known
	healthy float64 // limit before everything failed, 0 while something succeeds
	seeker  *keptSeeker
	planned kept // the last; an idle time does not change it
}

// Retune takes new settings and keeps all that was learned.
func (c *elasticController) Retune(l Law) bool { return retuned(&c.Elastic, l) }

func (c *elasticController) Next(w Window) Decision {
	limit := within(float64(w.Limit), w)
	d := Decision{Limit: limit, Next: afresh}
	f, ok := flowOf(w)
	switch {
	case w.Elapsed <= 0:
		d.Next = c.planned.plan()
		return d
	case c.seeker != nil && unfinished(w):
		d.Reason, d.Next = tooFew(w, w.Last), d.Next.extended(w)
		return d
	case f.done == 0 && f.ended >= leastWindow:
		return c.failing(w, d)
	case !ok:
		return c.wait(w, d)
	case c.healthy > 0:
		return c.recover(w, d)
	}
	c.observeUsual(w, f)
	switch {
	case c.occupied(w, f):
		return c.makeRoom(w, f, d)
	case c.seeker == nil && !f.saturated: // nothing is known against a higher limit
		c.pulse.observe(f, 1)
		d.Reason, d.Next.MinSamples = Reason{Unused, Elasticity, 1, price}, enoughDone
		return d
	case c.seeker == nil:
		c.seeker = newSeeker(w, f, c.pulse)
	}
	k := c.seeker.seeker()
	to, why := k.next(w, f, c.Elastic)
	d.Limit, d.Reason = whole(within(to, w)), why
	d.Next = k.plan(f, limit, d.Limit, wallClock(w))
	c.seeker.keep(&k)
	c.planned = keep(d.Next)
	return d
}

// wallClock is when the window was closed, 0 if that is not known.
func wallClock(w Window) int64 {
	if w.Closed.IsZero() || w.Closed.Before(time.Unix(0, 0)) {
		return 0
	}
	return w.Closed.UnixNano()
}

// wait answers a window in which too little ended.
func (c *elasticController) wait(w Window, d Decision) Decision {
	d.Reason, d.Next = tooFew(w, leastDone), patient(w)
	d.Next.MaxAge = max(d.Next.MaxAge, c.planned.maxAge/2)
	c.planned = keep(d.Next)
	d.Limit = c.resumed(w, d.Limit)
	return d
}

// resumed gives up an ebb and returns the limit of before, or the given one if there is no ebb.
func (c *elasticController) resumed(w Window, limit float64) float64 {
	if k := c.seeker; k != nil && k.ebb.stage != flowing {
		k.ebb.stage = flowing
		return within(float64(k.ebb.resume), w)
	}
	return limit
}

// failing answers a window in which nothing succeeded. Work that fails at once needs no lower
// limit. A limit that is full of work that hangs is halved until something succeeds.
func (c *elasticController) failing(w Window, d Decision) Decision {
	if w.Refused+w.Waited == 0 {
		d.Reason = Reason{Unused, Errors, w.ErrorRate(), 0}
		return d
	}
	c.healthy = max(c.healthy, d.Limit)
	to, why := halved(w)
	d.Limit, d.Reason = whole(within(to, w)), why
	return d
}

// recover goes back to the limit from before everything failed: three to four seconds of refusals
// followed each outage while it had to be found again from 1.
func (c *elasticController) recover(w Window, d Decision) Decision {
	d.Limit, d.Reason = within(c.healthy, w), Reason{Rebased, Errors, w.ErrorRate(), 1}
	d.Next.Carried, d.Next.MinSamples = true, leastDone
	c.healthy = 0
	return d
}

// plan says how to measure the next window.
func (k *seeker) plan(f flow, from, to float64, now int64) Plan {
	if k.ebb.stage != flowing {
		return k.ebbPlan()
	}
	p := f.plan(from, to, k.unit)
	if k.test.running { // throughput follows the cut by a latency
		p.Settle = max(p.Settle, duration(f.latency))
		p.Interval = max(p.Interval, duration(f.latency))
		p.MaxAge = max(p.MaxAge, duration(3*f.latency))
	}
	if now > 0 {
		k.ebb.schedule.align(&p, now)
	}
	return p
}
