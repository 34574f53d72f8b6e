package admit

// events numbers the reports of a node.
type events struct {
	last     uint64
	observed bool // Settings.Observed
	followed bool // others hear of them too; an update keeps that
}

// next returns the number of an event, 0 if no one hears of it.
func (e *events) next() uint64 {
	if !e.heard() {
		return 0
	}
	e.last++
	return e.last
}

func (e *events) heard() bool { return e.observed || e.followed }
