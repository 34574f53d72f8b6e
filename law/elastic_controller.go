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
	k := c.seeker
	first := k.filter.weight == 0
	to, why := k.next(w, f, c.Budget.Seconds())
	if first && !k.ebb.known && tFirst > 0 {
		k.ebb.from, k.ebb.resume, k.ebb.stage = f.point(), f.limit, ebbing
		to, why = k.lowered(f), Reason{Probing, Average, f.latency, f.latency}
	}
	clock := int64(0)
	if !w.Closed.IsZero() {
		clock = w.Closed.UnixNano()
	}
	if clock != 0 && k.atTick(f, clock) && k.ebb.stage == flowing {
		to, why = k.tick(f, clock), Reason{Probing, Average, f.latency, k.ebb.base}
	}
	d.Limit, d.Reason = whole(within(to, w)), why
	d.Next = f.plan(limit, d.Limit, k.unit)
	if k.test.running {
		d.Next.Settle = max(d.Next.Settle, duration(f.latency))
		d.Next.Interval = max(d.Next.Interval, duration(f.latency))
		d.Next.MaxAge = max(d.Next.MaxAge, 3*d.Next.Interval)
	}
	if k.ebb.stage != flowing {
		d.Next = k.ebbPlan()
	} else if clock != 0 {
		k.ebb.schedule.align(&d.Next, clock)
	}
	return d
}
