package weir

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/weir-go/weir/law"
)

// stateVersion is the version of the form of a saved state.
const stateVersion = 1

// staleState is the age of a saved state after which a law starts afresh from its limit. The
// downstream may have changed meanwhile, so the rest of the state is only a guess.
const staleState = time.Hour

type savedState struct {
	Version int           `json:"version"`
	Saved   time.Time     `json:"saved"`
	Law     string        `json:"law"` // type
	Limit   int           `json:"limit"`
	NoLoad  time.Duration `json:"no_load_ns,omitempty"`
}

// Save returns the knowledge of the limiter, as JSON of less than 300 bytes: the limit and, with
// [law.Setpoint], the latency without load. [Limiter.Restore] gives the knowledge to a limiter in
// another process, as after a restart.
func (l *Limiter) Save() []byte {
	learned := l.node.Learned()
	state, err := json.Marshal(savedState{
		Version: stateVersion, Saved: time.Now().UTC().Truncate(time.Second), Law: typeOf(l.config.Load().law),
		Limit: learned.Limit, NoLoad: learned.NoLoad,
	})
	if err != nil {
		panic(err) // no year has five digits
	}
	return state
}

// Restore makes the limiter continue from a state that [Limiter.Save] returned, instead of from
// [Config].Initial. Call it before the limiter admits work: the law starts anew. The limit stays
// within Config.Min and Config.Max. From a state of more than an hour ago, only the limit counts,
// as Initial does. A state of a limiter that had learned nothing changes nothing.
//
// The error matches [ErrConfig]: the state is invalid, or of another version or another law. The
// limiter is then unchanged.
func (l *Limiter) Restore(state []byte) error {
	c := l.Config()
	s, err := parseState(state)
	if err == nil && s.Law != typeOf(c.Law) {
		err = fmt.Errorf("it is of %s, and the limiter has %s: start without it", s.Law, typeOf(c.Law))
	}
	if err != nil {
		return fmt.Errorf("%w: saved state of limiter %q: %w", ErrConfig, c.Name, err)
	}
	learned := law.Knowledge{Limit: s.Limit, NoLoad: s.NoLoad}
	if age := time.Since(s.Saved); age > staleState || age < -staleState {
		learned.NoLoad = 0
	}
	if learned.Limit == 0 {
		return nil
	}
	return l.update(c, nil, learned)
}

func parseState(state []byte) (s savedState, err error) {
	switch err := json.Unmarshal(state, &s); {
	case err != nil:
		return s, fmt.Errorf("%w: want what Save returned", err)
	case s.Version != stateVersion:
		return s, fmt.Errorf("it has version %d, and this program reads %d: start without it", s.Version, stateVersion)
	case s.Limit < 0 || s.Limit > maxSlots:
		return s, fmt.Errorf("limit is %d: want 0 to %d", s.Limit, maxSlots)
	case s.NoLoad < 0 || s.NoLoad > mostNoLoad:
		return s, fmt.Errorf("no_load_ns is %d: want 0 to %d", s.NoLoad, mostNoLoad)
	}
	return s, nil
}

// mostNoLoad is the largest no-load latency of a saved state.
const mostNoLoad = 24 * time.Hour

// typeOf names the law that learns. A wrapper of a law has the state of that law.
func typeOf(l law.Law) string {
	if outer, ok := l.(interface{ Unwrap() law.Law }); ok {
		return typeOf(outer.Unwrap())
	}
	return fmt.Sprintf("%T", l)
}
