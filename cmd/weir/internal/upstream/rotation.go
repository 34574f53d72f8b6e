package upstream

import (
	"math/rand/v2"
	"slices"
	"time"
)

// A rotation is the set of addresses that receive requests.
type rotation struct {
	addresses []*address
	changes   uint64    // of the records, when it was made
	until     time.Time // the next end of an ejection; zero if there is none
}

// newRotation leaves out the sick addresses, but no more than half of all: the ones that
// became sick last.
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

// holds reports whether a new rotation would be the same.
func (r *rotation) holds(changes uint64) bool {
	return r.changes == changes && (r.until.IsZero() || time.Now().Before(r.until))
}

// rotation returns the current rotation. It is remade on use, so that no timer is needed at
// the end of an ejection. Several requests may remake it at a time: an older one does not hold.
func (p *Pool) rotation() []*address {
	changes := p.changes.Load() // before the records are read, so that a concurrent change is not missed
	if r := p.current.Load(); r.holds(changes) {
		return r.addresses
	}
	r := newRotation(p.addresses, p.config.Health.Path != "", changes, time.Now())
	p.current.Store(r)
	return r.addresses
}

// choose returns an untried address for a request, preferably from the rotation; nil if all
// were tried.
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

// lessBusy returns the less busy of two random addresses; nil if there is none.
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

// ofPair returns the less busy address of an ordered pair, and the first if both are equally
// busy. n addresses have n*(n-1) pairs.
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
