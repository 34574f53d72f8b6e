package fleet

import (
	"cmp"
	"context"
	"errors"
)

// statePrefix begins the keys of saved states, which no member reads.
const statePrefix = "state."

// longestState is the size of the longest value.
const longestState = 1024

// SaveState keeps the state of a limiter in the store: what [weir.Limiter.Save] returned, for the
// limiters of that name in other processes and later. The last one to write counts. The state of a
// set of more than a few keys does not fit into a store.
//
// An error about the name or the size matches [weir.ErrConfig]; the others come from the store.
func SaveState(ctx context.Context, s Store, name string, state []byte) error {
	ctx = cmp.Or(ctx, context.Background())
	switch {
	case name == "" || !isID(name):
		return invalid("the name of the state is %q: want 1 to 64 bytes of a to z, 0 to 9 and hyphens", name)
	case len(state) == 0 || len(state) > longestState:
		return invalid("the state of %s has %d bytes: want 1 to %d", name, len(state), longestState)
	}
	return s.Write(ctx, Write{Key: statePrefix + name, Value: state})
}

// LoadState returns the state that [SaveState] kept, or nil if there is none.
// [weir.Limiter.Restore] takes it. It gives up when ctx ends.
func LoadState(ctx context.Context, s Store, name string) (state []byte, err error) {
	ctx = cmp.Or(ctx, context.Background())
	within, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	err = s.Watch(within, statePrefix+name, func(e Entry) {
		if e.Key == statePrefix+name {
			state = e.Value
		}
		if e.Key == "" {
			stop(errRead)
		}
	})
	if errors.Is(context.Cause(within), errRead) {
		return state, nil
	}
	return nil, err
}

// errRead ends a watch that has shown all entries.
var errRead = errors.New("fleet: all entries have been read")
