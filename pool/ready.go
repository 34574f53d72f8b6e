package pool

import (
	"slices"

	"github.com/weir-go/weir/capacity"
)

// ready holds the ready items in order. Most items come in this order too, and leave from the
// front.
type ready struct {
	items  []*item
	gone   int               // the number of empty places at the front
	cost   *capacity.Request // of a task that names no cost
	custom int               // the number of items with another cost
}

// all returns the ready items. They are valid until the next change.
func (r *ready) all() []*item { return r.items[r.gone:] }

func (r *ready) len() int { return len(r.items) - r.gone }

// first returns the first item. It must not be called without a ready item.
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
