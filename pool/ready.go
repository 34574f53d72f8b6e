package pool

import (
	"container/heap"

	"github.com/weir-go/weir/capacity"
)

// ready holds the ready items, in order. Most come in order as well and form a line, which
// costs next to nothing; the others are in a heap beside it.
type ready struct {
	line   []*item // from head on
	head   int
	aside  byRank
	cost   *capacity.Request // of a task that does not say
	custom int               // how many have a cost of their own
}

func (r *ready) len() int { return len(r.line) - r.head + len(r.aside) }

func (r *ready) add(it *item) {
	if it.request != r.cost {
		r.custom++
	}
	if last := len(r.line) - 1; r.head <= last && it.before(r.line[last]) {
		heap.Push(&r.aside, it)
		return
	}
	if r.head > cap(r.line)/2 {
		r.line = append(r.line[:0], r.line[r.head:]...)
		clear(r.line[len(r.line):cap(r.line)])
		r.head = 0
	}
	r.line = append(r.line, it)
}

// first must not be called when there is none, nor take.
func (r *ready) first() *item {
	if r.inLine() {
		return r.line[r.head]
	}
	return r.aside[0]
}

func (r *ready) take() (it *item) {
	if r.inLine() {
		it = r.line[r.head]
		r.line[r.head] = nil
		r.head++
	} else {
		it = heap.Pop(&r.aside).(*item)
	}
	if it.request != r.cost {
		r.custom--
	}
	return it
}

// inLine reports whether the first is in the line.
func (r *ready) inLine() bool {
	return r.head < len(r.line) && (len(r.aside) == 0 || r.line[r.head].before(r.aside[0]))
}

// all are the ready items, in no order.
func (r *ready) all() []*item { return append(r.line[r.head:len(r.line):len(r.line)], r.aside...) }

type byRank []*item

func (r byRank) Len() int           { return len(r) }
func (r byRank) Less(i, j int) bool { return r[i].before(r[j]) }
func (r byRank) Swap(i, j int)      { r[i], r[j] = r[j], r[i] }
func (r *byRank) Push(x any)        { *r = append(*r, x.(*item)) }
func (r *byRank) Pop() any          { return pop((*[]*item)(r)) }

func pop(s *[]*item) *item {
	last := len(*s) - 1
	it := (*s)[last]
	(*s)[last] = nil
	*s = (*s)[:last]
	return it
}
