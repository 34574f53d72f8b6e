package nostr

import (
	"bytes"
	"cmp"
	"slices"
)

// A Filter selects events: an event must match all of its conditions. The zero Filter
// matches everything.
type Filter struct {
	IDs     []ID              // nil for any, empty for none; sorted
	Authors []PubKey          // nil for any, empty for none; sorted
	Kinds   []int             // nil for any, empty for none; sorted
	Tags    map[byte][]string // values by the single letter of a tag, sorted
	Since   int64             // 0 for no bound
	Until   int64             // 0 for no bound, negative for none
	Limit   int               // maximum number of stored events; -1 for no bound
}

// Matches reports whether an event matches. An absent condition matches every event, and a
// condition with several values matches if one of them does.
func (f *Filter) Matches(e *Event) bool {
	switch {
	case f.IDs != nil && !sortedHas(f.IDs, e.ID, compareIDs),
		f.Authors != nil && !sortedHas(f.Authors, e.PubKey, compareKeys),
		f.Kinds != nil && !sortedHas(f.Kinds, e.Kind, cmp.Compare[int]),
		f.Since != 0 && e.CreatedAt < f.Since,
		f.Until != 0 && e.CreatedAt > f.Until:
		return false
	}
	for letter, values := range f.Tags {
		if !e.tagged(letter, values) {
			return false
		}
	}
	return true
}

func sortedHas[T any](values []T, value T, compare func(a, b T) int) bool {
	_, found := slices.BinarySearchFunc(values, value, compare)
	return found
}

func compareIDs(a, b ID) int      { return bytes.Compare(a[:], b[:]) }
func compareKeys(a, b PubKey) int { return bytes.Compare(a[:], b[:]) }

// tagged uses binary search, because an event may have 2,000 tags and a filter 1,000 values:
// comparing every pair took 48 ms, which a client could cause for each of its subscriptions.
func (e *Event) tagged(letter byte, values []string) bool {
	return slices.ContainsFunc(e.Tags, func(t Tag) bool {
		if len(t) < 2 || len(t[0]) != 1 || t[0][0] != letter {
			return false
		}
		_, found := slices.BinarySearch(values, t[1])
		return found
	})
}
