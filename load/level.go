package load

// A Level is how close a system is to its limit.
type Level struct {
	Load     float64 // 0 idle, 1 at the limit, more beyond it
	Source   string  // the feed with the worst reading
	Worst    Reading // which reading that is
	Valid    bool    // whether any feed gave a valid reading that concerns the scope
	Degraded bool    // whether something is stale or invalid, so that Load does not see all
}

// Feeds are the feeds of a monitor at one moment.
type Feeds []FeedSnapshot

// Level is how close the system is to its limit for work of one scope, by the feeds for which
// counts returns true; nil counts all. [All] is the worst for either. A feed that is missing does
// not count.
func (fs Feeds) Level(scope Scope, counts func(FeedSnapshot) bool) Level {
	var l Level
	for _, f := range fs {
		if f.Missing || counts != nil && !counts(f) {
			continue
		}
		l.Degraded = l.Degraded || f.Err != nil
		r, concerned := f.Worst(scope)
		if !concerned {
			continue
		}
		if !l.Valid || r.Load() > l.Load {
			l.Load, l.Source, l.Worst = r.Load(), f.Source, r
		}
		l.Valid = true
	}
	return l
}

// Drain returns the last drain of the first feed that reports one, nil if none has reported one
// that is not stale.
func (fs Feeds) Drain() *Drain {
	for _, f := range fs {
		if f.Drain != nil {
			return f.Drain
		}
	}
	return nil
}

// Worst is the reading with the most load among the valid ones that concern the scope,
// if there is one.
func (s FeedSnapshot) Worst(scope Scope) (worst Reading, concerned bool) {
	for _, r := range s.Readings {
		if r.Err == nil && r.Scope.concerns(scope) && (!concerned || r.Load() > worst.Load()) {
			worst, concerned = r, true
		}
	}
	return worst, concerned
}
