package fleet

import (
	"cmp"
	"slices"
)

// Changes finds the changes between readings of a store, for a [Store] that reads all entries again
// and again. The zero value has seen nothing. It is not safe for concurrent use.
type Changes struct{ revs map[string]uint64 }

// Show calls see with each entry that is new or has another revision, and with an entry without a
// value for each key that has gone. After the first reading it calls see with the zero Entry, as
// [Store] asks.
func (c *Changes) Show(entries []Entry, see func(Entry)) {
	slices.SortFunc(entries, func(a, b Entry) int { return cmp.Compare(a.Key, b.Key) })
	revs := make(map[string]uint64, len(entries))
	for _, e := range entries {
		if revs[e.Key] = e.Rev; c.revs[e.Key] != e.Rev {
			see(e)
		}
	}
	for key := range c.revs {
		if _, there := revs[key]; !there {
			see(Entry{Key: key})
		}
	}
	if c.revs == nil {
		see(Entry{})
	}
	c.revs = revs
}
