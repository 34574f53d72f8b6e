package queue

import (
	"slices"

	"github.com/weir-go/weir/internal/reply"
)

// tenants keeps the tenants of a node for fairness between them. It knows as many tenants as the
// setting says. A tenant without work makes room for another tenant, so that memory does not depend
// on the number of all tenants.
//
// The fair share of a tenant is the limit divided by the tenants that have work. A free slot goes
// to the tenant with the least running work, among the tenants with work in the picked lane. A
// queue that is too long evicts work of the tenant that has the most work. So a tenant within its
// share is never refused for lack of room while a tenant above its share waits in the same lane.
type tenants struct {
	most   int   // tenants with a share each, 0 while there is no fairness
	starts int64 // the number of starts of work
	byHash map[uint16]*tenant
	all    []*tenant // by index; the first tenant has no name
}

// A tenant has the weight of its running and its waiting work.
type tenant struct {
	hash, index      uint16
	running, waiting int64
	started          int64 // the number of its last start
	lines            [Lanes]lane
}

// tenants returns the tenants, nil without fairness between them.
func (q *Queue) tenants() *tenants {
	if q == nil || q.cold == nil || q.cold.tenants == nil || q.cold.tenants.most == 0 {
		return nil
	}
	return q.cold.tenants
}

// SetTenants changes the number of tenants that have a share each, 0 for no fairness.
func (q *Queue) SetTenants(most int) {
	old := q.tenants()
	if old == nil && most == 0 || old != nil && old.most == most {
		return
	}
	c := q.coldPart()
	if c.tenants == nil {
		c.tenants = &tenants{byHash: map[uint16]*tenant{}}
		c.tenants.add(0)
	}
	if old != nil {
		q.each(old.leave)
	}
	c.tenants.most = most
	if most > 0 {
		q.each(c.tenants.join)
	}
}

// find returns the tenant for which work counts: the tenant of the work or, if there is no room for
// that tenant, the tenant without a name. Tenants that a lower setting leaves out only end their
// work.
func (t *tenants) find(hash uint16) *tenant {
	if x := t.byHash[hash]; x != nil && int(x.index) <= t.most {
		return x
	}
	if len(t.all) <= t.most {
		return t.add(hash)
	}
	i := slices.IndexFunc(t.all[1:1+t.most], (*tenant).isIdle)
	if i < 0 {
		return t.all[0]
	}
	x := t.all[1+i]
	if t.byHash[x.hash] == x {
		delete(t.byHash, x.hash)
	}
	x.hash, x.started = hash, t.starts
	t.byHash[hash] = x
	return x
}

func (t *tenants) add(hash uint16) *tenant {
	x := &tenant{hash: hash, index: uint16(len(t.all)), started: t.starts}
	t.all = append(t.all, x)
	t.byHash[hash] = x
	return x
}

func (t *tenants) join(w *Waiter) {
	x := t.find(w.Tenant)
	w.Tenant = x.hash
	x.lines[w.Lane].push(w, byTenant)
	x.waiting += int64(w.Weight)
}

func (t *tenants) leave(w *Waiter) {
	x := t.byHash[w.Tenant]
	x.lines[w.Lane].remove(w, byTenant)
	x.waiting -= int64(w.Weight)
}

// Start counts work of a tenant that starts, and notes the tenant in the record. Tenants must be
// set.
func (q *Queue) Start(r *reply.Record, hash uint16) {
	t := q.tenants()
	x := t.find(hash)
	x.running += int64(r.Weight)
	t.starts++
	x.started = t.starts
	r.Tenant = x.index
	r.Marks |= reply.Tenanted
}

// Reweigh counts additional weight of work that Start has counted. At the end of work the weight is
// negative.
func (q *Queue) Reweigh(r *reply.Record, more int64) {
	q.cold.tenants.all[r.Tenant].running += more
}

// least returns the line of the lane whose tenant has the least running work. Among equal tenants
// it is the tenant whose last start is longest ago.
func (t *tenants) least(lane int) *lane {
	var least *tenant
	for _, x := range t.all {
		if x.lines[lane].length == 0 {
			continue
		}
		if least == nil || x.running < least.running || x.running == least.running && x.started < least.started {
			least = x
		}
	}
	return &least.lines[lane]
}

// has returns the weight of a tenant's running and waiting work.
func (x *tenant) has() int64 { return x.running + x.waiting }

func (x *tenant) isIdle() bool { return x.has() == 0 }

// mostIn returns the line of the lane whose tenant has the most work. Among equal tenants the
// tenant of w comes first.
func (t *tenants) mostIn(lane int, w *Waiter) *lane {
	most := t.byHash[w.Tenant]
	for _, x := range t.all {
		if x.lines[lane].length > 0 && (most.lines[lane].length == 0 || x.has() > most.has()) {
			most = x
		}
	}
	return &most.lines[lane]
}

// aboveShare reports whether w's tenant has more than its share of the limit, at the cost of other
// tenants.
func (t *tenants) aboveShare(w *Waiter, limit int) bool {
	active := int64(0)
	for _, x := range t.all[:min(len(t.all), 1+t.most)] {
		if !x.isIdle() && t.byHash[x.hash] == x { // or its tenant has moved
			active++
		}
	}
	return active > 1 && t.byHash[w.Tenant].has()*active > int64(limit)
}

// ahead counts the waiters in w's lane that are served before w, which has not joined yet: all
// waiters of its tenant, and the waiters of each other tenant that start until both tenants run the
// same amount.
func (t *tenants) ahead(w *Waiter) int {
	own := t.find(w.Tenant)
	ahead := int64(own.lines[w.Lane].length)
	level := own.running + ahead + 1
	for _, x := range t.all {
		if x != own {
			ahead += min(int64(x.lines[w.Lane].length), max(0, level-x.running))
		}
	}
	return int(ahead)
}
