package bulkhead

import (
	"slices"
	"sync"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/feed"
)

// Events returns a channel of the events of all keys' limiters from now on, also of keys that are
// yet to come, and of keys that have an OnEvent of their own. It is otherwise as
// [weir.Limiter.Events]: the Set never waits for the reader, [weir.Event].Lost counts the events
// that a reader missed, stop ends the subscription, and an update keeps it. [weir.Event].Limiter
// names the key, and [weir.Event].Seq is the order of the events of one key.
//
// To begin and to end a subscription takes time, and 300 bytes for as long as it lasts, for each
// key. Meanwhile work of keys that the configuration does not name has to wait.
func (s *Set) Events(size int) (events <-chan weir.Event, stop func()) {
	r := limiters.NewReader(size)
	d := &s.dynamic
	d.mu.Lock()
	defer d.mu.Unlock()
	d.readers = append(slices.Clone(d.readers), r)
	for _, c := range s.all() {
		limiters.Follow(c.limiter, r)
	}
	return r.Events(), sync.OnceFunc(func() { s.unfollow(r) })
}

func (s *Set) unfollow(r *feed.Reader[weir.Event]) {
	d := &s.dynamic
	d.mu.Lock()
	defer d.mu.Unlock()
	d.readers = slices.DeleteFunc(slices.Clone(d.readers),
		func(other *feed.Reader[weir.Event]) bool { return other == r })
	for _, c := range s.all() {
		limiters.Unfollow(c.limiter, r)
	}
	r.Close()
}
