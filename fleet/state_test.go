package fleet_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/fleet"
	"github.com/weir-go/weir/fleet/storetest"
	"github.com/weir-go/weir/internal/must"
)

func TestBadStates(t *testing.T) {
	store := storetest.NewMemory()
	for _, c := range []struct{ name, state, want string }{
		{"", "{}", `the name of the state is ""`},
		{"a.b", "{}", `the name of the state is "a.b"`},
		{"a", "", "the state of a has 0 bytes"},
		{"a", strings.Repeat("x", 512<<10+1), "the state of a has 524289 bytes"},
	} {
		err := fleet.SaveState(t.Context(), store, c.name, []byte(c.state))
		if !errors.Is(err, weir.ErrConfig) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	if n := len(store.Entries()); n > 0 {
		t.Errorf("%d entries", n)
	}
	foreign := fleet.Write{Key: "state.a", Value: []byte(strings.Repeat("x", 512<<10+1))}
	must.Do(t, store.Write(t.Context(), foreign))
	if _, err := fleet.LoadState(t.Context(), store, "a"); !errors.Is(err, weir.ErrConfig) || !strings.Contains(err.Error(), "has 524289 bytes") {
		t.Errorf("%v, want that it is too long", err)
	}
}

func TestStateWithoutAStore(t *testing.T) {
	store := storetest.NewMemory()
	store.Fail(true)
	if err := fleet.SaveState(t.Context(), store, "a", []byte("{}")); !errors.Is(err, storetest.ErrDown) {
		t.Errorf("%v, want %v", err, storetest.ErrDown)
	}
	if _, err := fleet.LoadState(t.Context(), store, "a"); !errors.Is(err, storetest.ErrDown) {
		t.Errorf("%v, want %v", err, storetest.ErrDown)
	}
	gone, stop := context.WithCancel(t.Context())
	stop()
	if _, err := fleet.LoadState(gone, silent{}, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
}

// silent is a store that shows nothing.
type silent struct{ fleet.Store }

func (silent) Watch(ctx context.Context, _ string, _ func(fleet.Entry)) error {
	<-ctx.Done()
	return ctx.Err()
}
