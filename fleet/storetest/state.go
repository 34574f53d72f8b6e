package storetest

import (
	"bytes"
	"testing"

	"github.com/weir-go/weir/fleet"
	"github.com/weir-go/weir/internal/must"
)

func saves(t *testing.T, s fleet.Store) {
	for _, want := range []string{"", "{1}", "{2}"} {
		if want != "" {
			must.Do(t, fleet.SaveState(t.Context(), s, "search", []byte(want)))
		}
		if got, err := fleet.LoadState(t.Context(), s, "search"); err != nil || string(got) != want {
			t.Errorf("the state is %q, %v: want %q", got, err, want)
		}
	}
}

// savesMuch keeps the largest state, which the watch of an allocator does not show.
func savesMuch(t *testing.T, s fleet.Store) {
	all := follow(t, s, "lease")
	want := bytes.Repeat([]byte{'{', 0, 0xff, '}'}, 128<<10)
	must.Do(t, fleet.SaveState(t.Context(), s, "keys", want))
	if got, err := fleet.LoadState(t.Context(), s, "keys"); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the state has %d bytes, %v: want the %d that were saved", len(got), err, len(want))
	}
	put(t, s, "lease.want.a", "after")
	all.shows(t, "lease.want.a", "after")
	all.mu.Lock()
	defer all.mu.Unlock()
	if len(all.entries) != 1 {
		t.Errorf("the watch of an allocator shows %d: want 1, and no state", len(all.entries))
	}
}
