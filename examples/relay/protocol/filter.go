package protocol

import (
	"cmp"
	"slices"

	"github.com/nbd-wtf/go-nostr"
)

// Matches reports whether an event matches a filter: all of its conditions. An absent
// condition matches every event, and a condition with several values matches if one of them
// does. The values must be sorted, as [ParseMessage] leaves them.
func Matches(f *nostr.Filter, e *nostr.Event) bool {
	switch {
	case f.Since != nil && e.CreatedAt < *f.Since,
		f.Until != nil && e.CreatedAt > *f.Until,
		f.IDs != nil && !has(f.IDs, e.ID),
		f.Authors != nil && !has(f.Authors, e.PubKey),
		f.Kinds != nil && !has(f.Kinds, e.Kind):
		return false
	}
	for name, values := range f.Tags {
		if !slices.ContainsFunc(e.Tags, func(t nostr.Tag) bool { return len(t) >= 2 && t[0] == name && has(values, t[1]) }) {
			return false
		}
	}
	return true
}

// has uses binary search, because an event may have 2,000 tags and a filter 1,000 values:
// comparing every pair, as go-nostr does, took 48 ms, which a client could cause for each of
// its subscriptions.
func has[T cmp.Ordered](sorted []T, value T) bool {
	_, found := slices.BinarySearch(sorted, value)
	return found
}
