package exchange

import (
	"maps"
	"slices"
	"sync"
)

// finishing is the set of requests that continue if their clients leave.
type finishing struct {
	mu    sync.Mutex
	all   map[*exchange]struct{}
	ended bool
}

// add reports whether a request may continue without its client.
func (f *finishing) add(x *exchange) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended {
		return false
	}
	if f.all == nil {
		f.all = map[*exchange]struct{}{}
	}
	f.all[x] = struct{}{}
	return true
}

func (f *finishing) remove(x *exchange) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.all, x)
}

// end makes all requests end with their clients.
func (f *finishing) end() {
	f.mu.Lock()
	f.ended = true
	all := slices.Collect(maps.Keys(f.all))
	f.mu.Unlock()
	for _, x := range all {
		x.watch()
	}
}
