package protocol

import (
	"cmp"
	"slices"

	"github.com/nbd-wtf/go-nostr"
)

// Matcher returns a function that reports whether a filter matches an event: all of its conditions.
// An absent condition matches every event, and a condition with several values matches if one of
// them does. The values must be sorted, as [ParseMessage] leaves them.
//
// An event may have 2,000 tags, a filter 1,000 values, and a relay 100,000 filters, so the values
// of the tags are looked up: comparing every pair, as go-nostr does, took 48 ms for one filter, and
// going through the tags a second for all.
func Matcher(e *nostr.Event) func(*nostr.Filter) bool {
	type tag struct{ name, value string }
	tags := make(map[tag]struct{}, len(e.Tags))
	for _, t := range e.Tags {
		if len(t) >= 2 {
			tags[tag{t[0], t[1]}] = struct{}{}
		}
	}
	hasOneOf := func(name string, values []string) bool {
		if len(values) > len(tags) {
			return slices.ContainsFunc(e.Tags, func(t nostr.Tag) bool { return len(t) >= 2 && t[0] == name && has(values, t[1]) })
		}
		return slices.ContainsFunc(values, func(value string) bool {
			_, found := tags[tag{name, value}]
			return found
		})
	}
	return func(f *nostr.Filter) bool {
		switch {
		case f.Since != nil && e.CreatedAt < *f.Since,
			f.Until != nil && e.CreatedAt > *f.Until,
			f.IDs != nil && !has(f.IDs, e.ID),
			f.Authors != nil && !has(f.Authors, e.PubKey),
			f.Kinds != nil && !has(f.Kinds, e.Kind):
			return false
		}
		for name, values := range f.Tags {
			if !hasOneOf(name, values) {
				return false
			}
		}
		return true
	}
}

func has[T cmp.Ordered](sorted []T, value T) bool {
	_, found := slices.BinarySearch(sorted, value)
	return found
}
