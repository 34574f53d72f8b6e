package load

// A Level is how close a system is to its limit.
type Level struct {
	Load     float64 // 0 idle, 1 at the limit, more beyond it
	Source   string  // the feed with the worst reading
	Worst    Reading // the worst reading
	Valid    bool    // whether any feed gave a valid reading that concerns the scope
	Degraded bool    // whether a feed is stale or invalid, so that Load may be too low
}

// Feeds are the feeds of a monitor at one moment.
type Feeds []FeedSnapshot

// Level returns how close the system is to its limit for work of one scope. It goes by the feeds
// for which counts returns true, or by all feeds if counts is nil. The scope [All] includes the
// readings of all scopes. A feed that is missing does not count.
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

// Drain returns the last drain of the first feed whose drain is not stale, nil if there is none.
func (fs Feeds) Drain() *Drain {
	for _, f := range fs {
		if f.Drain != nil {
			return f.Drain
		}
	}
	return nil
}

// Worst returns the valid reading with the most load of the readings that concern the scope. It
// returns false if there is none.
func (s FeedSnapshot) Worst(scope Scope) (worst Reading, concerned bool) {
	for _, r := range s.Readings {
		if r.Err == nil && r.Scope.concerns(scope) && (!concerned || r.Load() > worst.Load()) {
			worst, concerned = r, true
		}
	}
	return worst, concerned
}
