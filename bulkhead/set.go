package bulkhead

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/admit"
)

// A Set admits work by key, each key within a limit of its own and all keys within the cap. Most
// callers want [Set.Do]. For work that does not fit a function, take a permit with [Set.Acquire].
// For a key that is used over and over, make a [Set.Handle].
//
// A Set has no goroutine and no timer of its own. All methods are safe for concurrent
// use. Make one with [New]; the zero Set is not usable.
type Set struct {
	group    group
	updating sync.Mutex // one update at a time
	capped   int        // by the last SetMax; guarded by updating
	table    atomic.Pointer[table]
	dynamic  dynamic
}

// A table is a configuration with the compartments that it names. It is replaced as a whole, so
// that the look-up of a named key takes no lock that unknown keys could hold.
type table struct {
	given Config // complete, as Set.Config returns it
	conf  Config // as the keys get it
	byKey map[string]*compartment
}

// newTable returns a table of a complete configuration, still without compartments. The reserves
// shrink if their sum is above the cap of SetMax.
func newTable(c Config, capped int) *table {
	keys := c.forKeys()
	for key, reserve := range c.reserves(capped) {
		k := keys.ByKey[key]
		k.Reserved = reserve
		keys.ByKey[key] = k
	}
	return &table{given: c, conf: keys, byKey: make(map[string]*compartment, len(keys.ByKey))}
}

// of returns the settings of a key.
func (t *table) of(key string) Compartment {
	if k, named := t.conf.ByKey[key]; named {
		return k
	}
	return t.conf.Default
}

// New returns a set, or an error that matches [weir.ErrConfig] and names the setting,
// its value and the allowed values.
func New(c Config) (*Set, error) {
	c, err := c.complete()
	if err != nil {
		return nil, err
	}
	s := &Set{capped: mostSlots, dynamic: dynamic{byKey: map[string]*compartment{}}}
	if c.Max > 0 {
		s.group.slots = admit.NewGroup(c.Max)
	}
	t := newTable(c, mostSlots)
	for key, k := range t.conf.ByKey {
		if t.byKey[key], err = s.open(key, k, k.allocation()); err != nil {
			return nil, err
		}
	}
	s.table.Store(t)
	return s, nil
}

// open makes the compartment of a key. The caller holds dynamic.mu, unless the set is not in use
// yet.
func (s *Set) open(key string, k Compartment, allocation admit.Allocation) (*compartment, error) {
	c := &compartment{key: key, breaker: k.newBreaker(key)}
	var err error
	c.limiter, err = s.group.open(k.settings(key, c.breaker), allocation)
	return c, err
}

// enter enters the compartment that admits work of the key. If the key has no compartment, enter
// makes one. If create is false, it returns an entry without a compartment and without an error
// instead.
func (s *Set) enter(key string, create bool) entry {
	for {
		c, err := s.find(key, create)
		if c == nil || c.enter() {
			return entry{c, err}
		}
	}
}

func (s *Set) find(key string, create bool) (*compartment, error) {
	c := s.table.Load().byKey[key]
	if c == nil {
		c = s.dynamic.find(key)
	}
	if c == nil {
		return s.findUnknown(key, create)
	}
	c.touch()
	return c, nil
}

// Config returns the current configuration: the one given to [New] or the last [Set.Update], with
// the defaults filled in, as in [weir.Limiter.Config], also within each Compartment. Its ByKey has
// only the keys that were given. It is a copy, as is its map: to change one setting, change it
// there and pass it to Update. The [Snapshot] has the current cap, which [Set.SetMax] moves.
func (s *Set) Config() Config {
	c := s.table.Load().given
	c.ByKey = maps.Clone(c.ByKey)
	return c
}

// Do runs fn within the limit of the key, as [weir.Limiter.Do] does. Work that is not
// admitted gets the error of [Set.Acquire]. For a function that returns a value pass a [Handle] to
// [weir.Do].
func (s *Set) Do(ctx context.Context, key string, fn func(context.Context) error) error {
	return s.DoN(ctx, key, 1, fn)
}

// DoN is Do for work that takes weight slots instead of one.
func (s *Set) DoN(ctx context.Context, key string, weight int, fn func(context.Context) error) error {
	return s.enter(key, true).doN(ctx, weight, fn)
}

// Acquire returns a permit for one piece of work of the key, waiting in the key's queue if it has
// one, as [weir.Limiter.Acquire] does. The error matches [weir.ErrRefused] if the work was refused,
// and also [ErrKey] if the key is empty or too long; [weir.RefusedError] names the key. It does not
// allocate unless it has to wait or refuse, or the key is new.
func (s *Set) Acquire(ctx context.Context, key string) (weir.Permit, error) {
	return s.AcquireN(ctx, key, 1)
}

// AcquireN is Acquire for work that takes weight slots instead of one.
func (s *Set) AcquireN(ctx context.Context, key string, weight int) (weir.Permit, error) {
	return s.enter(key, true).acquireN(ctx, weight)
}

// TryAcquire is Acquire for work that will not wait. It is refused with [weir.ErrLimitReached] if
// there is no free slot.
func (s *Set) TryAcquire(ctx context.Context, key string) (weir.Permit, error) {
	return s.enter(key, true).tryAcquire(ctx)
}

// Full says whether to refuse work of the key before any of it is read, as [weir.Limiter.Full]
// does: an error is a refusal that was counted, and nil promises nothing. A full cap refuses like a
// full limit.
//
// Full makes no compartment. If the key has none, Full returns nil whatever the cap says, because
// there is no limiter yet to count a refusal. A bad key, and an unknown key of a closed set, is
// refused.
func (s *Set) Full(ctx context.Context, key string) error { return s.enter(key, false).full(ctx) }

// Close refuses all waiting work and all later work, for any key, with [weir.ErrClosed]. Running
// work continues, and its permits can be given back as ever.
func (s *Set) Close() {
	each(s.closing(), func(c *compartment) { c.limiter.Close() })
}

// Shutdown refuses all arrivals from now on and waits until all waiting and running work is done.
// If ctx ends first it closes the set and returns an error that matches context.Cause(ctx). A nil
// ctx counts as context.Background.
func (s *Set) Shutdown(ctx context.Context) error {
	all := s.closing()
	each(all, func(c *compartment) { c.limiter.Drain() })
	for _, c := range all {
		if err := c.limiter.Shutdown(ctx); err != nil {
			s.Close()
			return fmt.Errorf("bulkhead: shutdown: %w", err)
		}
	}
	return nil
}

// closing keeps keys from getting a new compartment, and returns all compartments.
func (s *Set) closing() []*compartment {
	s.updating.Lock()
	defer s.updating.Unlock()
	s.dynamic.mu.Lock()
	defer s.dynamic.mu.Unlock()
	s.dynamic.closed = true
	return s.all()
}

// all returns every compartment, the leaving ones last. The caller holds
// dynamic.mu.
func (s *Set) all() []*compartment {
	named := s.table.Load().byKey
	all := make([]*compartment, 0, len(named)+len(s.dynamic.ring)+len(s.dynamic.leaving))
	all = slices.AppendSeq(all, maps.Values(named))
	all = append(all, s.dynamic.ring...)
	return append(all, s.dynamic.leaving...)
}

// MaxKeyLength is how many bytes a key may have.
const MaxKeyLength = 256

// ErrKey matches the refusal of a key that is empty or too long, which is a [weir.RefusedError]
// with [weir.ReasonBadKey].
var ErrKey = fmt.Errorf("%w: bulkhead: key", weir.ErrRefused)

type keyError struct {
	refused weir.RefusedError
	problem string
}

func badKey(key, problem string) error {
	key = key[:min(len(key), MaxKeyLength)]
	return &keyError{weir.RefusedError{Limiter: key, Reason: weir.ReasonBadKey}, problem}
}

func (e *keyError) Error() string { return ErrKey.Error() + " " + e.problem }

func (e *keyError) Unwrap() []error { return []error{ErrKey, &e.refused} }

// checkKey returns the refusal of work for a bad key.
func checkKey(key string) error {
	if problem := problemOf(key); problem != "" {
		return badKey(key, problem)
	}
	return nil
}

func problemOf(key string) string {
	if key == "" || len(key) > MaxKeyLength {
		return fmt.Sprintf("of %d bytes: want 1 to %d", len(key), MaxKeyLength)
	}
	return ""
}
