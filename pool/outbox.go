package pool

// An outbox keeps the events for their reader. It is part of a board.
type outbox struct {
	events []Event
	size   int  // above which nothing more is started
	closed bool // there is no reader any more
}

func (o *outbox) publish(e Event, fx *effects) {
	if o.closed {
		return
	}
	o.events = append(o.events, e)
	if len(o.events) == 1 {
		fx.events = true
	}
}

func (o *outbox) offer(e Event, fx *effects) bool {
	if o.full(0) {
		return false
	}
	o.publish(e, fx)
	return true
}

// full reports whether there is no room beside the events that are coming.
func (o *outbox) full(coming int) bool { return len(o.events)+coming >= o.size }

// take returns the published events, and keeps spare for the next ones.
func (o *outbox) take(spare []Event) (events []Event) {
	events, o.events = o.events, spare[:0]
	return events
}
