package fleet

import (
	"cmp"
	"context"
	"slices"
)

// A Store keeps the newest value of each key of one fleet and shows changes to watchers. A
// process that can write to it can take all shares.
//
// Package storetest checks an implementation. All methods are safe for concurrent use.
type Store interface {
	// Write applies a write. A swap that does not apply is no error. Write gives up when ctx
	// ends.
	Write(ctx context.Context, w Write) error

	// Watch calls see with the entry of a key, and with the entries of the keys that begin with
	// that key and a dot. An empty key is for all entries. Then Watch calls see with the zero
	// Entry, and from then on with each change, or at least with the newest entry of a key. It
	// calls see from one goroutine, and returns when ctx ends or the store fails.
	Watch(ctx context.Context, key string, see func(Entry)) error
}

// An Entry is a value in a store. A nil Value means that the key has no value.
type Entry struct {
	Key   string // empty in the zero Entry
	Value []byte // up to 1 KiB; up to 512 KiB if the key begins with "state."
	Rev   uint64 // above 0; another number after each write of the key
}

// A Write is a new value for a key; a nil Value deletes the key.
type Write struct {
	Key   string // up to 80 bytes of a to z, 0 to 9, dots and hyphens
	Value []byte // with the bounds of an Entry's
	Swap  bool   // apply it only if the key has the revision Rev, or no value if Rev is 0
	Rev   uint64 // see Swap
}

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
