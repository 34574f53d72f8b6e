package store

import (
	"maps"
	"slices"

	"github.com/nbd-wtf/go-nostr"
)

// A plan determines how a filter is answered: by IDs, or by ranges of one index.
type plan struct {
	ids      []string // of the filter, if it has any
	prefixes [][]byte // of ranges, all in the same index
	exact    bool     // every key of the ranges with a kind of the filter belongs to an event that matches
}

// maxSpans is the number of ranges of authors and kinds that are merged: a cursor has to look at
// all of them before it knows which event is the newest. A filter with more ranges is answered by
// its authors alone.
const maxSpans = 2000

// planOf chooses the index with the fewest ranges. It uses kinds alone only without authors
// and tags, because a kind may have half of all events.
func planOf(f *nostr.Filter) plan {
	if f.IDs != nil {
		return plan{ids: f.IDs}
	}
	var best plan
	if f.Authors != nil {
		best = byAuthors(f)
	}
	for _, letter := range slices.Sorted(maps.Keys(f.Tags)) {
		if values := f.Tags[letter]; best.prefixes == nil || len(values) < len(best.prefixes) {
			best = plan{exact: f.Authors == nil && len(f.Tags) == 1}
			for _, value := range values {
				best.prefixes = append(best.prefixes, tagPrefix(letter, value))
			}
		}
	}
	switch {
	case best.prefixes != nil:
		return best
	case f.Kinds == nil:
		return plan{prefixes: [][]byte{key(inRecords)}, exact: true}
	}
	best.exact = true
	for _, kind := range f.Kinds {
		best.prefixes = append(best.prefixes, key(inKinds, bytesOf(kind)))
	}
	return best
}

func byAuthors(f *nostr.Filter) plan {
	p := plan{exact: len(f.Tags) == 0}
	both := f.Kinds != nil && len(f.Authors)*len(f.Kinds) <= maxSpans
	for _, author := range f.Authors {
		if !both {
			p.prefixes = append(p.prefixes, key(inAuthors, raw(author)))
			continue
		}
		for _, kind := range f.Kinds {
			p.prefixes = append(p.prefixes, key(inBoth, raw(author), bytesOf(kind)))
		}
	}
	return p
}

// empty reports whether a condition has no values, so that nothing can match.
func empty(f *nostr.Filter) bool {
	none := f.IDs != nil && len(f.IDs) == 0 || f.Authors != nil && len(f.Authors) == 0 || f.Kinds != nil && len(f.Kinds) == 0
	for _, values := range f.Tags {
		none = none || len(values) == 0
	}
	return none
}
