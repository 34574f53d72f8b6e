package upstream

import (
	"math/rand/v2"
	"slices"
	"time"
)

// rotation returns the addresses that receive requests. Sick addresses are out, but no more than
// half of all addresses: the addresses that became sick last.
func (p *Pool) rotation() []*address {
	type patient struct {
		*address
		since time.Time
	}
	most := len(p.addresses) / 2
	if most == 0 {
		return p.addresses
	}
	var sick []patient
	now := time.Now()
	for _, a := range p.addresses {
		if isSick, since := a.sick(p.isChecked(), now); isSick {
			sick = append(sick, patient{a, since})
		}
	}
	if len(sick) == 0 {
		return p.addresses
	}
	slices.SortStableFunc(sick, func(a, b patient) int { return b.since.Compare(a.since) })
	sick = sick[:min(len(sick), most)]
	return slices.DeleteFunc(slices.Clone(p.addresses), func(a *address) bool {
		return slices.ContainsFunc(sick, func(out patient) bool { return out.address == a })
	})
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
	n := len(of)
	switch n {
	case 0:
		return nil
	case 1:
		return of[0]
	}
	i, j := rand.IntN(n), rand.IntN(n-1)
	if j >= i {
		j++
	}
	if of[j].inFlight.Load() < of[i].inFlight.Load() {
		return of[j]
	}
	return of[i]
}
