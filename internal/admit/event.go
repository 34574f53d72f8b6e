package admit

// events numbers the events of a node.
type events struct {
	last     uint64
	observed bool // Settings.Observed
	followed bool // there are other readers too; updates keep this
}

// next returns the number of an event, 0 if there are no readers.
func (e *events) next() uint64 {
	if !e.heard() {
		return 0
	}
	e.last++
	return e.last
}

func (e *events) heard() bool { return e.observed || e.followed }
