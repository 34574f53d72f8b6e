package protocol

import (
	"encoding/json"
	"unicode/utf8"

	"github.com/nbd-wtf/go-nostr"
)

// A ParseError explains why a message was refused.
type ParseError struct {
	Reason string // the fault
	Answer []byte // for the client: an OK for an event, a CLOSED for a subscription, else a NOTICE
}

// Error returns the reason.
func (e *ParseError) Error() string { return e.Reason }

const messages = "EVENT, REQ, COUNT or CLOSE"

// ParseMessage parses a message of a client: an EVENT, REQ, COUNT or CLOSE. It checks the form of
// an event, but neither its ID nor its signature: see [Verify]. It ignores unknown fields. The
// filters of a COUNT have no limit. An error is a *ParseError.
func ParseMessage(text []byte) (nostr.Envelope, error) {
	if !utf8.Valid(text) { // go-nostr would read it, but not write it as it was
		return nil, notice("the text is not UTF-8")
	}
	var parts []json.RawMessage
	if err := json.Unmarshal(text, &parts); err != nil {
		return nil, notice("want a JSON array: %v", err)
	}
	if len(parts) == 0 {
		return nil, notice("the message is empty: want %s", messages)
	}
	var label string
	_ = json.Unmarshal(parts[0], &label) // what is no text is no label
	switch label {
	case "EVENT":
		return parseEvent(parts[1:])
	case "REQ", "COUNT", "CLOSE":
		return parseSubscription(label, parts[1:])
	}
	return nil, notice("unknown message %.20q: want %s", label, messages)
}

func notice(format string, args ...any) *ParseError {
	reason := Reason(Invalid, format, args...)
	return &ParseError{reason, Encode("NOTICE", reason)}
}

func parseEvent(parts []json.RawMessage) (nostr.Envelope, error) {
	if len(parts) != 1 {
		return nil, notice("EVENT with %d elements: want an event", len(parts))
	}
	e, err := readEvent(parts[0])
	switch {
	case err == nil:
		return &nostr.EventEnvelope{Event: e}, nil
	case isHex(e.ID, 64):
		return nil, &ParseError{err.Error(), Encode("OK", e.ID, false, err.Error())}
	}
	return nil, &ParseError{err.Error(), Encode("NOTICE", err.Error())}
}

// parseSubscription reads the subscription of a REQ, COUNT or CLOSE, and its filters.
func parseSubscription(label string, parts []json.RawMessage) (nostr.Envelope, error) {
	if len(parts) == 0 {
		return nil, notice("%s without a subscription", label)
	}
	var id string
	if err := json.Unmarshal(parts[0], &id); err != nil {
		return nil, notice("the subscription is no text")
	}
	if n := utf8.RuneCountInString(id); n == 0 || n > MaxSubscription {
		return nil, notice("the subscription has %d characters: want 1 to %d", n, MaxSubscription)
	}
	if label == "CLOSE" {
		m := nostr.CloseEnvelope(id)
		return &m, nil
	}
	filters, err := readFilters(parts[1:])
	if err != nil {
		return nil, &ParseError{err.Error(), Encode("CLOSED", id, err.Error())}
	}
	if label == "COUNT" {
		for i := range filters {
			filters[i].Limit, filters[i].LimitZero = 0, false
		}
		return &nostr.CountEnvelope{SubscriptionID: id, Filters: filters}, nil
	}
	return &nostr.ReqEnvelope{SubscriptionID: id, Filters: filters}, nil
}
