package upstream

import (
	"math/rand/v2"
	"slices"
	"time"
)

// A rotation is the addresses that get requests.
type rotation struct {
	addresses []*address
	changes   uint64    // of the records, when it was made
	until     time.Time // when an ejection ends; zero if there is none
}

// newRotation leaves the sick addresses out, but no more than half of all: those that became sick
// last.
func newRotation(all []*address, checked bool, changes uint64, now time.Time) *rotation {
	type out struct {
		*address
		since time.Time
	}
	r := &rotation{changes: changes}
	var sick []out
	for _, a := range all {
		isSick, since, until := a.sick(checked, now)
		if isSick {
			sick = append(sick, out{a, since})
		}
		if !until.IsZero() && (r.until.IsZero() || until.Before(r.until)) {
			r.until = until
		}
	}
	slices.SortStableFunc(sick, func(a, b out) int { return b.since.Compare(a.since) })
	sick = sick[:min(len(sick), len(all)/2)]
	r.addresses = all
	if len(sick) > 0 {
		r.addresses = slices.DeleteFunc(slices.Clone(all), func(a *address) bool {
			return slices.ContainsFunc(sick, func(o out) bool { return o.address == a })
		})
	}
	return r
}

// holds reports whether the rotation is still what a new one would be.
func (r *rotation) holds(changes uint64) bool {
	return r.changes == changes && (r.until.IsZero() || time.Now().Before(r.until))
}

// rotation returns the present rotation. It is made anew when it is asked for, so that nothing has
// to run when an ejection ends.
func (p *Pool) rotation() []*address {
	if r := p.current.Load(); r.holds(p.changes.Load()) {
		return r.addresses
	}
	p.turning.Lock()
	defer p.turning.Unlock()
	changes := p.changes.Load() // before the records are read, so that a change meanwhile is not missed
	if r := p.current.Load(); r.holds(changes) {
		return r.addresses
	}
	r := newRotation(p.addresses, p.config.Health.Path != "", changes, time.Now())
	p.current.Store(r)
	return r.addresses
}

// choose returns an address for a request that was not tried, from the rotation if it has one; nil
// if all were tried.
func (p *Pool) choose(tried []*address) *address {
	in := p.rotation()
	if len(tried) == 0 {
		return lessBusy(in)
	}
	isTried := func(a *address) bool { return slices.Contains(tried, a) }
	left := slices.DeleteFunc(slices.Clone(in), isTried)
	if len(left) == 0 {
		left = slices.DeleteFunc(slices.Clone(p.addresses), isTried)
	}
	return lessBusy(left)
}

// lessBusy returns the one of two random addresses with less in flight; nil if there is none.
func lessBusy(of []*address) *address {
	switch n := len(of); n {
	case 0:
		return nil
	case 1:
		return of[0]
	default:
		return ofPair(of, rand.IntN(n*(n-1)))
	}
}

// ofPair returns the less busy of an ordered pair of different addresses, and the first if both are
// as busy. There are n*(n-1) pairs of n addresses.
func ofPair(of []*address, pair int) *address {
	i, j := pair/(len(of)-1), pair%(len(of)-1)
	if j >= i {
		j++
	}
	if of[j].inFlight.Load() < of[i].inFlight.Load() {
		return of[j]
	}
	return of[i]
}
