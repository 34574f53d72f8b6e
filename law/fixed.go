package law

// Fixed keeps the limit it starts from, [Bounds].Initial. It is how a limit is
// pinned by hand, and what an adaptive law is compared with. It has no settings.
type Fixed struct{}

// Controller starts the law. It never fails.
func (Fixed) Controller(b Bounds) (Controller, error) {
	return fixedController(b.Initial), nil
}

// String returns "fixed", which [Parse] reads.
func (l Fixed) String() string { return l.form().String() }

func (Fixed) form() form { return form{name: "fixed"} }

type fixedController int

func (c fixedController) Next(w Window) Decision {
	limit := min(max(int(c), w.Min), w.Max)
	return Decision{Limit: float64(limit), Reason: Reason{Code: Pinned}}
}
