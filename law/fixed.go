package law

import "cmp"

// Fixed keeps one limit, regardless of measurements. Use it to pin a limit by hand, or as the
// baseline for an adaptive law.
//
// Fixed fails when the work or the server changes: a limit that suits one server overloads a server
// of half its size, and leaves half of a server of twice its size idle.
type Fixed struct {
	// Limit is the limit, brought within the bounds. 0 means the limit that the limiter has, at
	// first [Bounds].Initial.
	Limit int
}

// Controller starts the law. A setting out of range is an error that matches [ErrConfig]. The
// Controller is also a [Retuner], which accepts no other limit.
func (l Fixed) Controller(Bounds) (Controller, error) {
	return started(l, func(l Fixed) Controller { return fixedController(l.Limit) })
}

// String returns "fixed" or, for example, "fixed(limit=60)". [Parse] reads both,
// and "fixed(60)".
func (l Fixed) String() string { return l.form().String() }

func (l *Fixed) form() form {
	return form{name: "fixed", bare: true, settings: []setting{{"limit", number[int]{field: &l.Limit, unset: "the limit that the limiter has"}}}}
}

// A fixedController has the limit, or 0 for the limit of the limiter.
type fixedController int

func (c fixedController) Next(w Window) Decision {
	limit := min(max(cmp.Or(int(c), w.Limit), w.Min), w.Max)
	return Decision{Limit: float64(limit), Reason: Reason{Code: Pinned}}
}

// Learned returns nothing: the limit comes from the settings.
func (fixedController) Learned(int) Knowledge { return Knowledge{} }

// Resume ignores the knowledge: the limit comes from the settings.
func (fixedController) Resume(Knowledge) {}

// Retune accepts only the limit that the controller has. A new limit needs a new controller.
func (c fixedController) Retune(l Law) bool {
	same, ok := l.(Fixed)
	return ok && same.Limit == int(c)
}
