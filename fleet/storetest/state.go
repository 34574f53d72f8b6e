package storetest

import (
	"bytes"
	"testing"

	"github.com/weir-go/weir/fleet"
	"github.com/weir-go/weir/internal/must"
)

// saves checks that a store keeps states, even the largest, and that the watch of an allocator does
// not show them.
func saves(t *testing.T, s fleet.Store) {
	all := follow(t, s, "lease")
	large := bytes.Repeat([]byte{'{', 0, 0xff, '}'}, 128<<10)
	for _, want := range [][]byte{nil, []byte("{1}"), []byte("{2}"), large} {
		if want != nil {
			must.Do(t, fleet.SaveState(t.Context(), s, "search", want))
		}
		if got, err := fleet.LoadState(t.Context(), s, "search"); err != nil || !bytes.Equal(got, want) {
			t.Errorf("the state has %d bytes, %v: want the %d that were saved", len(got), err, len(want))
		}
	}
	put(t, s, "lease.want.a", "after")
	all.shows(t, "lease.want.a", "after")
	all.mu.Lock()
	defer all.mu.Unlock()
	if len(all.entries) != 1 {
		t.Errorf("the watch of an allocator shows %d: want 1, and no state", len(all.entries))
	}
}
