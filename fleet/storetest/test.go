package storetest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/weir-go/weir/fleet"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/together"
)

// Test checks a store. Each call of open returns a store without entries.
func Test(t *testing.T, open func(t *testing.T) fleet.Store) {
	for name, test := range map[string]func(*testing.T, fleet.Store){
		"a watch shows entries and changes": watches,
		"a watch shows only its keys":       filters,
		"a watch ends":                      ends,
		"swaps":                             swaps,
		"one of many swaps applies":         races,
		"many keys":                         many,
		"a saved state":                     saves,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

// A view has the entries that a watch has shown so far.
type view struct {
	mu      sync.Mutex
	entries map[string]fleet.Entry
	synced  bool
}

// follow watches a key and the keys below until the test ends.
func follow(t *testing.T, s fleet.Store, key string) *view {
	t.Helper()
	v := &view{entries: map[string]fleet.Entry{}}
	ctx, stop := context.WithCancel(context.Background())
	var watching sync.WaitGroup
	watching.Go(func() {
		err := s.Watch(ctx, key, func(e fleet.Entry) {
			v.mu.Lock()
			defer v.mu.Unlock()
			switch {
			case e.Key == "":
				v.synced = true
			case e.Value == nil:
				delete(v.entries, e.Key)
			default:
				v.entries[e.Key] = e
			}
		})
		if ctx.Err() == nil {
			t.Errorf("the watch ended: %v", err)
		}
	})
	t.Cleanup(func() { stop(); watching.Wait() })
	v.await(t, "the watch has shown all entries", func() bool { return v.synced })
	return v
}

func (v *view) await(t *testing.T, text string, is func() bool) {
	t.Helper()
	must.Happen(t, text, func() bool {
		v.mu.Lock()
		defer v.mu.Unlock()
		return is()
	})
}

func (v *view) shows(t *testing.T, key, value string) fleet.Entry {
	t.Helper()
	v.await(t, fmt.Sprintf("%s is %q", key, value), func() bool { return string(v.entries[key].Value) == value })
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.entries[key]
}

func write(t *testing.T, s fleet.Store, w fleet.Write) {
	t.Helper()
	must.Do(t, s.Write(t.Context(), w))
}

func put(t *testing.T, s fleet.Store, key, value string) {
	t.Helper()
	write(t, s, fleet.Write{Key: key, Value: []byte(value)})
}

func watches(t *testing.T, s fleet.Store) {
	put(t, s, "leader", "a")
	v := follow(t, s, "")
	first := v.shows(t, "leader", "a")
	put(t, s, "leader", "b")
	if second := v.shows(t, "leader", "b"); second.Rev == first.Rev || first.Rev == 0 {
		t.Errorf("revisions %d and %d: want two, above 0", first.Rev, second.Rev)
	}
	write(t, s, fleet.Write{Key: "leader"})
	v.shows(t, "leader", "")
	long := strings.Repeat("x", 1024)
	put(t, s, "leader", long)
	v.shows(t, "leader", long)
}

func filters(t *testing.T, s fleet.Store) {
	put(t, s, "want.a", "1")
	v := follow(t, s, "want")
	put(t, s, "grant.a", "2")
	put(t, s, "wants", "4")
	put(t, s, "want.b", "3")
	v.shows(t, "want.a", "1")
	v.shows(t, "want.b", "3")
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.entries) != 2 {
		t.Errorf("a watch of want shows %d keys: want 2", len(v.entries))
	}
}

func ends(t *testing.T, s fleet.Store) {
	ctx, stop := context.WithCancel(t.Context())
	err := s.Watch(ctx, "", func(fleet.Entry) { stop() })
	if ctx.Err() == nil {
		t.Errorf("ended before its context: %v", err)
	}
}

func swaps(t *testing.T, s fleet.Store) {
	v := follow(t, s, "")
	write(t, s, fleet.Write{Key: "leader", Value: []byte("a"), Swap: true})
	first := v.shows(t, "leader", "a")
	write(t, s, fleet.Write{Key: "leader", Value: []byte("b"), Swap: true})
	write(t, s, fleet.Write{Key: "leader", Value: []byte("c"), Swap: true, Rev: first.Rev + 1})
	write(t, s, fleet.Write{Key: "leader", Swap: true})
	write(t, s, fleet.Write{Key: "leader", Swap: true, Rev: first.Rev + 1})
	put(t, s, "want.a", "after")
	v.shows(t, "want.a", "after")
	v.shows(t, "leader", "a")
	write(t, s, fleet.Write{Key: "leader", Value: []byte("d"), Swap: true, Rev: first.Rev})
	v.shows(t, "leader", "d")
	write(t, s, fleet.Write{Key: "leader", Value: []byte("e"), Swap: true, Rev: first.Rev})
	write(t, s, fleet.Write{Key: "leader"})
	v.shows(t, "leader", "")
	write(t, s, fleet.Write{Key: "leader", Value: []byte("f"), Swap: true, Rev: first.Rev})
	write(t, s, fleet.Write{Key: "leader", Value: []byte("g"), Swap: true})
	v.shows(t, "leader", "g")
}

func races(t *testing.T, s fleet.Store) {
	v := follow(t, s, "")
	put(t, s, "leader", "a")
	before := v.shows(t, "leader", "a")
	together.Do(8, func(i int) {
		w := fleet.Write{Key: "leader", Value: fmt.Append(nil, i), Swap: true, Rev: before.Rev}
		if err := s.Write(t.Context(), w); err != nil {
			t.Errorf("one of 8 swaps: %v: one that does not apply is no error", err)
		}
	})
	put(t, s, "want.a", "after")
	v.shows(t, "want.a", "after")
	after := follow(t, s, "leader")
	after.await(t, "one swap applied", func() bool {
		return len(after.entries["leader"].Value) == 1 && string(after.entries["leader"].Value) != "a"
	})
}

func many(t *testing.T, s fleet.Store) {
	const keys = 300
	for i := range keys {
		put(t, s, fmt.Sprintf("want.%d", i), "x")
	}
	v := follow(t, s, "want")
	v.await(t, "all keys are there", func() bool { return len(v.entries) == keys })
}
