package protocol

import (
	"unicode/utf8"

	"github.com/nbd-wtf/go-nostr"
	"github.com/tidwall/gjson"
)

// A ParseError explains why a message was refused.
type ParseError struct {
	Reason string // the fault
	Answer []byte // for the client: an OK for an event, a CLOSED for a subscription, else a NOTICE
}

// Error returns the reason.
func (e *ParseError) Error() string { return e.Reason }

const messages = "EVENT, REQ, COUNT or CLOSE"

// ParseMessage parses a message of a client: an EVENT, REQ, COUNT or CLOSE. The filters of a COUNT
// have no limit. An error is a *ParseError.
//
// It checks the form of events and filters, but neither the ID nor the signature: see [Verify]. It
// refuses text that a relay could not return unchanged: duplicate fields, numbers that are not
// integers, upper-case hexadecimal digits, invalid UTF-8. Half of a surrogate pair is U+FFFD, and
// Verify refuses an event with another hash. It ignores unknown fields. The strings of a message
// share one copy of its text.
func ParseMessage(text []byte) (nostr.Envelope, error) {
	var p parser
	v, err := decode(text)
	if err != nil {
		return nil, notice(err)
	}
	var parts []gjson.Result
	p.array(v, func(part gjson.Result) {
		if len(parts) == 2+maxFilters {
			p.fail("more than %d filters", maxFilters)
			return
		}
		parts = append(parts, part)
	})
	if len(parts) == 0 {
		p.fail("the message is empty: want %s", messages)
		return nil, notice(p.err)
	}
	switch label := p.string(parts[0]); label {
	case "EVENT":
		return p.withEvent(parts[1:])
	case "REQ", "COUNT", "CLOSE":
		return p.withSubscription(label, parts[1:])
	default:
		p.fail("unknown message %.20q: want %s", label, messages)
		return nil, notice(p.err)
	}
}

func notice(err error) *ParseError {
	return &ParseError{err.Error(), Encode("NOTICE", err.Error())}
}

func (p *parser) withEvent(parts []gjson.Result) (nostr.Envelope, error) {
	if len(parts) == 0 {
		p.fail("EVENT without an event")
		return nil, notice(p.err)
	}
	e := p.event(parts[0])
	if len(parts) > 1 {
		p.fail("want nothing after the event")
	}
	if p.err != nil {
		if id := parts[0].Get("id"); id.Type == gjson.String && IsHex(id.Str, 64) {
			return nil, &ParseError{p.err.Error(), Encode("OK", id.Str, false, p.err.Error())}
		}
		return nil, notice(p.err)
	}
	return &nostr.EventEnvelope{Event: e}, nil
}

// withSubscription reads the subscription of a REQ, COUNT or CLOSE, and its filters.
func (p *parser) withSubscription(label string, parts []gjson.Result) (nostr.Envelope, error) {
	if len(parts) == 0 {
		p.fail("%s without a subscription", label)
		return nil, notice(p.err)
	}
	id := p.string(parts[0])
	if n := utf8.RuneCountInString(id); n == 0 || n > maxSubscription {
		p.fail("the subscription has %d characters: want 1 to %d", n, maxSubscription)
		return nil, notice(p.err)
	}
	if label == "CLOSE" {
		if len(parts) > 1 {
			p.fail("want nothing after the subscription")
			return nil, notice(p.err)
		}
		return new(nostr.CloseEnvelope(id)), nil
	}
	if len(parts) == 1 {
		p.fail("%s without a filter", label)
	}
	var filters nostr.Filters
	for _, part := range parts[1:] {
		filters = append(filters, p.filter(part))
	}
	if p.err != nil {
		return nil, &ParseError{p.err.Error(), Encode("CLOSED", id, p.err.Error())}
	}
	if label == "COUNT" {
		for i := range filters {
			filters[i].Limit, filters[i].LimitZero = 0, false
		}
		return &nostr.CountEnvelope{SubscriptionID: id, Filters: filters}, nil
	}
	return &nostr.ReqEnvelope{SubscriptionID: id, Filters: filters}, nil
}
