package fleet

import (
	"cmp"
	"context"
	"errors"
)

// statePrefix begins the keys of saved states, which no member reads.
const statePrefix = "state."

// longestState is the size of the longest state in bytes. The state of a set of 1,000 keys is
// smaller.
const longestState = 512 << 10

// SaveState keeps a state of [weir.Limiter.Save] or [bulkhead.Set.Save] in the store, for the
// limiters or sets of that name in other and in later processes. The last write counts. The state
// of a set has up to 400 KB, so only the member that leads should save it.
//
// An error about the name or the size matches [weir.ErrConfig]; other errors come from the store.
func SaveState(ctx context.Context, s Store, name string, state []byte) error {
	ctx = cmp.Or(ctx, context.Background())
	if err := checkState(name, state); err != nil {
		return err
	}
	return s.Write(ctx, Write{Key: statePrefix + name, Value: state})
}

func checkState(name string, state []byte) error {
	switch {
	case !ids.MatchString(name):
		return invalid("the name of the state is %q: want 1 to 64 bytes of a to z, 0 to 9 and hyphens", name)
	case len(state) == 0 || len(state) > longestState:
		return invalid("the state of %s has %d bytes: want 1 to %d", name, len(state), longestState)
	}
	return nil
}

// LoadState returns the state that [SaveState] kept, or nil if there is none.
// [weir.Limiter.Restore] or [bulkhead.Set.Restore] takes it. It gives up when ctx ends. It returns
// the same errors as SaveState.
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
	switch {
	case !errors.Is(context.Cause(within), errRead):
		return nil, cmp.Or(err, context.Cause(ctx))
	case state == nil:
		return nil, nil
	}
	return state, checkState(name, state)
}

// errRead ends a watch that has shown all entries.
var errRead = errors.New("fleet: all entries have been read")
