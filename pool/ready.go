package pool

import (
	"slices"

	"github.com/weir-go/weir/capacity"
)

// ready holds the ready items, in order. Most come in order as well, and go from the front.
type ready struct {
	items  []*item
	gone   int               // how many places at the front are empty
	cost   *capacity.Request // of a task that does not say
	custom int               // how many have a cost of their own
}

// all returns the ready items. They are valid until the next change.
func (r *ready) all() []*item { return r.items[r.gone:] }

func (r *ready) len() int { return len(r.items) - r.gone }

// first must not be called when there is none.
func (r *ready) first() *item { return r.items[r.gone] }

func (r *ready) add(it *item) {
	if it.request != r.cost {
		r.custom++
	}
	if r.gone > cap(r.items)/2 {
		r.items, r.gone = slices.Delete(r.items, 0, r.gone), 0
	}
	at := len(r.items)
	if r.len() > 0 && it.compare(r.items[at-1]) < 0 {
		among, _ := slices.BinarySearchFunc(r.all(), it, (*item).compare)
		at = r.gone + among
	}
	r.items = slices.Insert(r.items, at, it)
}

// take removes the item at an index of all.
func (r *ready) take(i int) {
	if r.all()[i].request != r.cost {
		r.custom--
	}
	if i == 0 {
		r.items[r.gone] = nil
		r.gone++
	} else {
		r.items = slices.Delete(r.items, r.gone+i, r.gone+i+1)
	}
}
