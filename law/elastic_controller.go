package law


// An elasticController costs little until the limiter first saturates.
type elasticController struct {
	Elastic
	pulse  pulse
	seeker *seeker
}

// Retune takes new settings and keeps all that was learned.
func (c *elasticController) Retune(l Law) bool { return retuned(&c.Elastic, l) }

func (c *elasticController) Next(w Window) Decision {
	limit := within(float64(w.Limit), w)
	d := Decision{Limit: limit, Next: afresh}
	f, ok := flowOf(w)
	switch {
	case f.done == 0 && f.ended >= leastWindow:
		to, why := halved(w)
		d.Limit, d.Reason = whole(within(to, w)), why
		return d
	case !ok && w.Elapsed > 0:
		d.Reason, d.Next = tooFew(w, leastDone), patient(w)
		return d
	case !ok:
		return d
	}
	if c.seeker == nil {
		if !f.saturated { // nothing is known against a higher limit
			c.pulse.feel(f, 1)
			d.Reason, d.Next.MinSamples = Reason{Unused, Elasticity, 1, price}, enoughDone
			return d
		}
		c.seeker = newSeeker(w, c.pulse)
	}
	to, why := c.seeker.next(w, f, c.Budget.Seconds())
	k := c.seeker
	clock := int64(0)
	if !w.Closed.IsZero() {
		clock = w.Closed.UnixNano()
	}
	if clock != 0 && k.atTick(f, clock) {
		to, why = k.tick(f, clock), Reason{Probing, Average, f.latency, k.ebb.base}
	}
	d.Limit, d.Reason = whole(within(to, w)), why
	d.Next = f.plan(limit, d.Limit, k.unit)
	if k.ebb.stage != flowing {
		d.Next = k.ebbPlan()
	} else if clock != 0 {
		k.ebb.schedule.align(&d.Next, clock)
	}
	return d
}
