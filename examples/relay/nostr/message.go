package nostr

import "unicode/utf8"

// A Message is a message of a client: *EventMessage, *ReqMessage, *CountMessage,
// *CloseMessage or *AuthMessage.
type Message interface{ message() }

// An EventMessage publishes an event.
type EventMessage struct {
	Event Event // not verified
}

// A ReqMessage asks for events, stored and future.
type ReqMessage struct {
	Subscription string   // its id; the client closes the subscription by it
	Filters      []Filter // at least one; an event matches if it matches one of them
}

// A CountMessage asks how many stored events there are. Its filters have no limit.
type CountMessage struct {
	Subscription string   // id of the question, repeated in the answer
	Filters      []Filter // at least one; an event counts if it matches one of them
}

// A CloseMessage ends a subscription.
type CloseMessage struct {
	Subscription string // its id
}

// An AuthMessage authenticates the client.
type AuthMessage struct {
	Event Event // not verified, see Check
}

func (*EventMessage) message() {}
func (*ReqMessage) message()   {}
func (*CountMessage) message() {}
func (*CloseMessage) message() {}
func (*AuthMessage) message()  {}

// A ParseError explains why a message was refused, and names the event or subscription that
// the answer is about.
type ParseError struct {
	ID           *ID    // of the event, if it can be read
	Subscription string // of the REQ or COUNT, "" if it cannot be read
	Reason       string // the fault, as a Reason
}

// Error returns the reason.
func (e *ParseError) Error() string { return e.Reason }

// AppendAnswer appends the answer to the client: an OK for an event, a CLOSED for a
// subscription, a NOTICE for everything else.
func (e *ParseError) AppendAnswer(b []byte) []byte {
	switch {
	case e.ID != nil:
		return AppendOK(b, *e.ID, false, e.Reason)
	case e.Subscription != "":
		return AppendClosed(b, e.Subscription, e.Reason)
	}
	return AppendNotice(b, e.Reason)
}

// ParseMessage parses a message of a client. An error is a *ParseError. It refuses text that
// is not JSON or exceeds the limits; ParseEvent and ParseFilter describe the rules for
// events and filters.
func ParseMessage(text []byte, l Limits) (Message, error) {
	l = l.WithDefaults()
	p := messageParser{scanner: newScanner(text, l), limits: l}
	p.array(p.element)
	p.end()
	p.complete()
	if p.err != nil {
		return nil, p.refusal()
	}
	return p.parsed(), nil
}

// A messageParser reads a message, element by element.
type messageParser struct {
	*scanner
	limits Limits

	elements     int
	kind         string
	eventAt      int // where the event starts
	event        Event
	subscription string
	filters      []Filter
}

func (p *messageParser) element() {
	p.elements++
	switch {
	case p.elements == 1:
		p.label()
	case p.kind == "EVENT" || p.kind == "AUTH":
		if p.elements > 2 {
			p.want("nothing after the event")
			return
		}
		p.eventAt = p.at
		p.event = p.scanner.event(p.limits)
	case p.elements == 2:
		p.subscriptionID()
	case p.kind == "CLOSE":
		p.want("nothing after the subscription")
	case len(p.filters) == p.limits.Filters:
		p.fail("more than %d filters", p.limits.Filters)
	default:
		p.filters = append(p.filters, p.filter(p.limits))
	}
}

const messages = "EVENT, REQ, COUNT, CLOSE or AUTH"

func (p *messageParser) label() {
	switch p.kind = p.string(); p.kind {
	case "EVENT", "REQ", "COUNT", "CLOSE", "AUTH":
	default:
		p.fail("unknown message %.20q: want %s", p.kind, messages)
	}
}

func (p *messageParser) subscriptionID() {
	id := p.string()
	if n := utf8.RuneCountInString(id); p.err == nil && (n == 0 || n > p.limits.Subscription) {
		p.fail("the subscription has %d characters: want 1 to %d", n, p.limits.Subscription)
		return
	}
	p.subscription = id
}

// complete fails if elements are missing.
func (p *messageParser) complete() {
	switch {
	case p.elements == 0:
		p.fail("the message is empty: want %s", messages)
	case p.elements == 1 && (p.kind == "EVENT" || p.kind == "AUTH"):
		p.fail("%s without an event", p.kind)
	case p.elements == 1:
		p.fail("%s without a subscription", p.kind)
	case len(p.filters) == 0 && (p.kind == "REQ" || p.kind == "COUNT"):
		p.fail("%s without a filter", p.kind)
	}
}

// refusal is the error for the message.
func (p *messageParser) refusal() *ParseError {
	e := &ParseError{Reason: p.err.Error()}
	switch p.kind {
	case "EVENT", "AUTH":
		e.ID = p.readableID()
	case "REQ", "COUNT":
		e.Subscription = p.subscription
	}
	return e
}

// readableID returns the ID of a refused event, if it can be read.
func (p *messageParser) readableID() (found *ID) {
	if p.elements < 2 {
		return nil
	}
	s := scanner{text: p.text, at: p.eventAt}
	s.object(func(key string) {
		if key != "id" || found != nil {
			s.skip()
			return
		}
		var id ID
		if s.hex(id[:]); s.err == nil {
			found = &id
		}
	})
	return found
}

func (p *messageParser) parsed() Message {
	switch p.kind {
	case "EVENT":
		return &EventMessage{p.event}
	case "AUTH":
		return &AuthMessage{p.event}
	case "REQ":
		return &ReqMessage{p.subscription, p.filters}
	case "COUNT":
		for i := range p.filters {
			p.filters[i].Limit = -1
		}
		return &CountMessage{p.subscription, p.filters}
	}
	return &CloseMessage{p.subscription}
}
