package nostr

import "strings"

// The range of created_at: its maximum is the largest integer that every JSON implementation
// reads without rounding.
const (
	minTime = 1
	maxTime = 1<<53 - 1
)

const maxKind = 65535

// ParseEvent parses an event. It checks the form, but neither the ID nor the signature: see
// Verify. It refuses text that a relay could not return unchanged: duplicate fields, numbers
// that are not integers, upper-case hexadecimal digits, halves of surrogate pairs, invalid
// UTF-8. It ignores unknown fields. The strings of the event share one copy of the text. The
// error's text is a Reason.
func ParseEvent(text []byte, l Limits) (Event, error) {
	l = l.WithDefaults()
	s := newScanner(text, l)
	e := s.event(l)
	s.end()
	if s.err != nil {
		return Event{}, s.err
	}
	return e, nil
}

// The fields of an event.
var eventFields = [...]string{"id", "pubkey", "created_at", "kind", "tags", "content", "sig"}

// event parses an event.
func (s *scanner) event(l Limits) (e Event) {
	var seen [len(eventFields)]bool
	s.object(func(key string) {
		s.field = key
		defer func() { s.field = "" }()
		switch key {
		case "id":
			s.once(&seen[0])
			s.hex(e.ID[:])
		case "pubkey":
			s.once(&seen[1])
			s.hex(e.PubKey[:])
		case "created_at":
			s.once(&seen[2])
			e.CreatedAt = s.integer(minTime, maxTime)
		case "kind":
			s.once(&seen[3])
			e.Kind = int(s.integer(0, maxKind))
		case "tags":
			s.once(&seen[4])
			e.Tags = s.tags(l)
		case "content":
			s.once(&seen[5])
			e.Content = s.string()
			if len(e.Content) > l.Content {
				s.fail("%d bytes, where at most %d are allowed", len(e.Content), l.Content)
			}
		case "sig":
			s.once(&seen[6])
			s.hex(e.Sig[:])
		default:
			s.skip()
		}
	})
	for i, field := range eventFields {
		if !seen[i] {
			s.fail("the event has no field %q", field)
		}
	}
	return e
}

// once fails on its second call for the same field.
func (s *scanner) once(seen *bool) {
	if *seen {
		s.fail("the field is there twice")
	}
	*seen = true
}

// tags parses the tags of an event. All tags are slices of one array of values.
func (s *scanner) tags(l Limits) []Tag {
	quotes := strings.Count(s.text[s.at:], `"`) // at least two a value
	values := make([]string, 0, min(quotes/2, l.TagValues))
	var ends []int // ends of the tags, in values
	s.array(func() {
		if len(ends) == l.Tags {
			s.fail("more than %d tags", l.Tags)
			return
		}
		s.array(func() {
			if len(values) == l.TagValues {
				s.fail("more than %d values in all tags", l.TagValues)
				return
			}
			values = append(values, s.string())
		})
		ends = append(ends, len(values))
	})
	tags := make([]Tag, len(ends))
	start := 0
	for i, end := range ends {
		tags[i] = values[start:end:end]
		start = end
	}
	return tags
}
