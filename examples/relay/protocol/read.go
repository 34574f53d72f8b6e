package protocol

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/nbd-wtf/go-nostr"
)

// readEvent reads an event and checks its form. The error's text is a Reason. With it comes the
// part of the event that could be read.
func readEvent(text []byte) (nostr.Event, error) {
	var e nostr.Event
	if err := json.Unmarshal(text, &e); err != nil {
		return e, Errorf(Invalid, "the event cannot be read: %v", err)
	}
	// Without the unknown fields, which go-nostr keeps: the author has not signed them.
	e = nostr.Event{ID: e.ID, PubKey: e.PubKey, CreatedAt: e.CreatedAt, Kind: e.Kind, Tags: e.Tags, Content: e.Content, Sig: e.Sig}
	values := 0
	for _, tag := range e.Tags {
		values += max(len(tag), 1)
	}
	switch {
	case !isHex(e.ID, 64) || !isHex(e.PubKey, 64) || !isHex(e.Sig, 128):
		return e, Errorf(Invalid, "want an id and a pubkey of 64, and a sig of 128 lower-case hexadecimal digits")
	case e.Kind < 0 || e.Kind > maxKind:
		return e, Errorf(Invalid, "kind %d: want 0 to %d", e.Kind, maxKind)
	case values > MaxTagValues:
		return e, Errorf(Invalid, "%d values in all tags: want at most %d", values, MaxTagValues)
	}
	return e, nil
}

func readFilters(parts []json.RawMessage) (nostr.Filters, error) {
	if len(parts) == 0 || len(parts) > MaxFilters {
		return nil, Errorf(Invalid, "%d filters: want 1 to %d", len(parts), MaxFilters)
	}
	filters := make(nostr.Filters, len(parts))
	for i, part := range parts {
		if err := readFilter(part, &filters[i]); err != nil {
			return nil, err
		}
	}
	return filters, nil
}

// readFilter reads a filter. It sorts the values, as Matches expects, and removes duplicates. The
// limit is the client's, or MaxLimit if that is lower or the client sets none.
//
// A condition with an empty list matches nothing. A tag name longer than a letter, which relays do
// not index, is refused.
func readFilter(text []byte, f *nostr.Filter) error {
	if err := json.Unmarshal(text, f); err != nil {
		return Errorf(Invalid, "a filter cannot be read: %v", err)
	}
	values := len(f.IDs) + len(f.Authors) + len(f.Kinds)
	for name, list := range f.Tags {
		if len(name) != 1 || !isLetter(name[0]) {
			return Errorf(Invalid, "\"#%.20s\": only tags of a single letter are indexed", name)
		}
		values += len(list)
		f.Tags[name] = sorted(list)
	}
	switch {
	case values > MaxFilterValues:
		return Errorf(Invalid, "%d values in a filter: want at most %d", values, MaxFilterValues)
	case !areIDs(f.IDs) || !areIDs(f.Authors):
		return Errorf(Invalid, "want ids and authors of 64 lower-case hexadecimal digits")
	case slices.ContainsFunc(f.Kinds, func(kind int) bool { return kind < 0 || kind > maxKind }):
		return Errorf(Invalid, "want kinds from 0 to %d", maxKind)
	}
	f.IDs, f.Authors, f.Kinds = sorted(f.IDs), sorted(f.Authors), sorted(f.Kinds)
	if f.Limit <= 0 && !f.LimitZero || f.Limit > MaxLimit {
		f.Limit = MaxLimit
	}
	return nil
}

// sorted returns the values sorted, each once, without the room for more that go-nostr makes.
func sorted[T cmp.Ordered](values []T) []T {
	slices.Sort(values)
	return slices.Clone(slices.Compact(values))
}

func areIDs(values []string) bool {
	return !slices.ContainsFunc(values, func(v string) bool { return !isHex(v, 64) })
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

// isHex reports whether a text has that many lower-case hexadecimal digits.
func isHex(text string, digits int) bool {
	return len(text) == digits && strings.Trim(text, "0123456789abcdef") == ""
}
