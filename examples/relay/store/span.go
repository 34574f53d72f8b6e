package store

import (
	"container/heap"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/dgraph-io/badger/v4"
	"github.com/nbd-wtf/go-nostr"
)

// A span is the unread part of an index range.
type span struct {
	prefix []byte
	next   []byte  // the next key to read, nil at the end
	ahead  []stamp // read and not yet merged
	window int     // number of keys to read next
}

func newSpan(prefix []byte, f *nostr.Filter, window int) *span {
	s := &span{prefix: prefix, next: slices.Clone(prefix), window: window}
	if f.Until != nil {
		s.next = binary.BigEndian.AppendUint64(s.next, invert(*f.Until))
	}
	return s
}

// A merger is a heap of spans, the one with the newest event on top.
type merger []*span

func (m merger) Len() int           { return len(m) }
func (m merger) Less(i, j int) bool { return m[i].ahead[0].before(m[j].ahead[0]) }
func (m merger) Swap(i, j int)      { m[i], m[j] = m[j], m[i] }
func (m *merger) Push(s any)        { *m = append(*m, s.(*span)) }
func (m *merger) Pop() any {
	last := len(*m) - 1
	s := (*m)[last]
	*m = (*m)[:last]
	return s
}

// pop takes the newest stamp read ahead. No span is dry.
func (c *Cursor) pop() stamp {
	top := c.heads[0]
	s := top.ahead[0]
	top.ahead = top.ahead[1:]
	if len(top.ahead) > 0 {
		heap.Fix(&c.heads, 0)
		return s
	}
	heap.Pop(&c.heads)
	if top.next != nil {
		c.dry = append(c.dry, top)
	}
	return s
}

// fill reads at most the given number of keys of a dry span.
func (c *Cursor) fill(r *reads, keys int) (read int, err error) {
	last := len(c.dry) - 1
	s := c.dry[last]
	if read, err = r.read(s, min(keys, s.window)); err != nil {
		return read, err
	}
	s.window = min(2*s.window, mostAhead)
	if len(s.ahead) > 0 {
		heap.Push(&c.heads, s)
	}
	if len(s.ahead) > 0 || s.next == nil {
		c.dry = c.dry[:last]
	}
	return read, nil
}

// A seek costs as much as some dozens of keys in order. So a cursor reads ahead: at first
// twice the number of events per range if all ranges have equally many, and then, in a range
// that had more of the newest events, twice as many each time, up to mostAhead. Reading
// ahead in 2,000 ranges takes at most 1.3 MB.
const mostAhead = 16

// firstWindow returns the number of keys to read first from each of the ranges.
func firstWindow(limit, ranges int) int {
	if limit < 0 {
		return max(mostAhead/ranges, 1)
	}
	return min(1+2*limit/ranges, mostAhead)
}

// lookUp finds the stamp of the next ID. After the last ID it makes one span of all stamps.
func (c *Cursor) lookUp(tx *badger.Txn) error {
	last := len(c.ids) - 1
	id := raw(c.ids[last])
	created, err := valueOf(tx, key(inIDs, id))
	if err != nil {
		return err
	}
	c.ids = c.ids[:last]
	if len(created) == 8 {
		s := stamp(slices.Concat(created, id))
		if f := &c.filter; (f.Since == nil || s.created() >= *f.Since) && (f.Until == nil || s.created() <= *f.Until) {
			c.found = append(c.found, s)
		}
	}
	if last == 0 && len(c.found) > 0 {
		slices.SortFunc(c.found, func(a, b stamp) int { return slices.Compare(a[:], b[:]) })
		c.heads = merger{{ahead: c.found}}
	}
	return nil
}

// A reads goes through ranges in one transaction. All ranges share an iterator, because creating
// one takes longer than using it.
type reads struct {
	tx     *badger.Txn
	index  []byte
	filter *nostr.Filter
	it     *badger.Iterator
	at     *span // the span at the iterator's position
}

// read reads at most n more keys of a span.
func (r *reads) read(s *span, n int) (read int, err error) {
	if r.it == nil {
		r.it = r.tx.NewIterator(badger.IteratorOptions{Prefix: r.index})
	}
	if r.at != s {
		r.it.Seek(s.next)
		r.at = s
	}
	for ; read < n; r.it.Next() {
		read++
		if !r.it.ValidForPrefix(s.prefix) {
			s.next = nil
			return read, nil
		}
		item := r.it.Item()
		k := item.Key()
		s.next = append(append(s.next[:0], k...), 0)
		if len(k) != len(s.prefix)+len(stamp{}) {
			return read, fmt.Errorf("%w: key %x", ErrCorrupt, k)
		}
		next := stamp(k[len(s.prefix):])
		if r.filter.Since != nil && next.created() < *r.filter.Since {
			s.next = nil
			return read, nil
		}
		if ok, err := r.wants(item); err != nil {
			return read, err
		} else if ok {
			s.ahead = append(s.ahead, next)
		}
	}
	return read, nil
}

// wants reports whether an entry is of a kind of the filter.
func (r *reads) wants(item *badger.Item) (ok bool, err error) {
	if r.filter.Kinds == nil {
		return true, nil
	}
	err = item.Value(func(kind []byte) error {
		ok = len(kind) == 2 && slices.Contains(r.filter.Kinds, int(binary.BigEndian.Uint16(kind)))
		return nil
	})
	return ok, err
}
