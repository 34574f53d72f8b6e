package queue

import (
	"math/bits"
	"time"

	"github.com/weir-go/weir/internal/reply"
)

// tenants is fairness between the tenants of a node, in memory that does not depend on their
// number: each is hashed into one of a few buckets, as in stochastic fairness queueing
// (McKenney, 1990). Below, a bucket is called a tenant.
//
// A tenant has its running and its waiting work, by weight. Its fair share is the limit
// divided by the tenants that have any. A free slot goes to the tenant with the least running
// work, among the tenants with work in the picked lane; a queue that is too long evicts work
// of the tenant that has most. So a tenant within its share is never refused for lack of room
// while one above its share waits in the same lane.
//
// Two tenants may share a bucket. The buckets are shuffled now and then, so that they part
// again. That needs the running work by the new buckets too, so work is counted by both, and
// the new ones take over once all running work was counted there.
type tenants struct {
	shuffled uint32 // how often
	due      int64  // when they are shuffled again

	running []int64 // by bucket
	next    []int64 // the same by the buckets to come, for work started since the last shuffle
	counted int64   // sum of next
	waiting []int64 // by bucket
	lines   []lane  // by lane, and in it by bucket
}

// stampOf returns the stamp of one shuffle among the last few: running work has this one or
// the one before. It is never 0.
func stampOf(shuffled uint32) uint8 { return uint8(shuffled%255) + 1 }

// shuffleEvery is how long two tenants share a bucket; Linux shuffles its stochastic
// fairness queues about as often.
const shuffleEvery = 10 * time.Second

// tenants returns the tenants, nil without fairness between them.
func (q *Queue) tenants() *tenants {
	if q == nil || q.cold == nil {
		return nil
	}
	return q.cold.tenants
}

// SetTenants changes the number of buckets for tenants, 0 for no fairness. Work that already
// runs belongs to no tenant.
func (q *Queue) SetTenants(buckets int, now int64) {
	old := q.tenants()
	switch {
	case old == nil && buckets == 0, old != nil && buckets == len(old.running):
		return
	case old != nil:
		q.cold.shuffled = old.shuffled
		q.cold.tenants = nil
	}
	x := q.coldPart()
	x.shuffled += 2 // no ticket that is out has this stamp or the one before
	if buckets == 0 {
		return
	}
	x.tenants = &tenants{
		shuffled: x.shuffled,
		due:      now + int64(shuffleEvery),
		running:  make([]int64, buckets),
		next:     make([]int64, buckets),
		waiting:  make([]int64, buckets),
		lines:    make([]lane, len(q.lanes)*buckets),
	}
	x.tenants.lineUp(q)
}

// lineUp lines the waiters up by tenant, in order of arrival.
func (t *tenants) lineUp(q *Queue) {
	clear(t.lines)
	clear(t.waiting)
	for i := range q.lanes {
		for w := range q.lanes[i].all(byLane) {
			t.join(w)
		}
	}
}

// ShuffleTenants moves all tenants to other buckets if that is due and all work in flight is
// counted there.
func (q *Queue) ShuffleTenants(now, inflight int64) {
	t := q.tenants()
	if t == nil || now < t.due || t.counted != inflight {
		return
	}
	t.running, t.next = t.next, t.running
	clear(t.next)
	t.counted = 0
	t.shuffled++
	t.due = now + int64(shuffleEvery)
	t.lineUp(q)
}

// bucket returns the tenant's bucket after the given number of shuffles. The hash of a tenant
// is secret, so no caller can choose to share a bucket; this only spreads it, by the
// finalizer of MurmurHash3.
func (t *tenants) bucket(tenant uint16, shuffled uint32) int {
	h := uint64(tenant)<<32 | uint64(shuffled)
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	high, _ := bits.Mul64(h^h>>33, uint64(len(t.running)))
	return int(high)
}

func (t *tenants) of(w *Waiter) int { return t.bucket(w.Tenant, t.shuffled) }

// inLane returns the lines of a lane, by bucket.
func (t *tenants) inLane(i int) []lane { return t.lines[i*len(t.running):][:len(t.running)] }

func (t *tenants) join(w *Waiter) {
	b := t.of(w)
	t.inLane(w.Lane)[b].push(w, byTenant)
	t.waiting[b] += int64(w.Weight)
}

func (t *tenants) leave(w *Waiter) {
	b := t.of(w)
	t.inLane(w.Lane)[b].remove(w, byTenant)
	t.waiting[b] -= int64(w.Weight)
}

// Start counts work of a tenant that starts, if tenants are set, and notes the shuffle in its
// record.
func (q *Queue) Start(r *reply.Record, tenant uint16) {
	t := q.tenants()
	if t == nil {
		return
	}
	r.Tenant, r.Stamp = tenant, stampOf(t.shuffled)
	t.running[t.bucket(tenant, t.shuffled)] += int64(r.Weight)
	t.next[t.bucket(tenant, t.shuffled+1)] += int64(r.Weight)
	t.counted += int64(r.Weight)
}

// End counts work that ended, if it was counted when it started.
func (q *Queue) End(r *reply.Record) { q.Reweigh(r, -int64(r.Weight)) }

// Reweigh counts additional weight of work, if it was counted when it started.
func (q *Queue) Reweigh(r *reply.Record, more int64) {
	t := q.tenants()
	if t == nil || r.Stamp != stampOf(t.shuffled) && r.Stamp != stampOf(t.shuffled-1) {
		return
	}
	t.running[t.bucket(r.Tenant, t.shuffled)] += more
	if r.Stamp == stampOf(t.shuffled) {
		t.next[t.bucket(r.Tenant, t.shuffled+1)] += more
		t.counted += more
	}
}

// least returns the line of the lane whose tenant has the least running work; among equals,
// the one that has gone longest without being served.
func (t *tenants) least(i int) *lane {
	lines, least := t.inLane(i), -1
	for b := range lines {
		if lines[b].length == 0 {
			continue
		}
		if least < 0 || t.running[b] < t.running[least] ||
			t.running[b] == t.running[least] && lines[b].passed > lines[least].passed {
			least = b
		}
	}
	return &lines[least]
}

// recordService notes that w was served.
func (t *tenants) recordService(w *Waiter) {
	lines := t.inLane(w.Lane)
	for b := range lines {
		lines[b].passed++
	}
	lines[t.of(w)].passed = 0
}

// has returns the weight of a tenant's running and waiting work.
func (t *tenants) has(b int) int64 { return t.running[b] + t.waiting[b] }

// most returns the line of the lane whose tenant has most; among equals, that of w.
func (t *tenants) most(i int, w *Waiter) *lane {
	lines, most := t.inLane(i), t.of(w)
	for b := range lines {
		if lines[b].length > 0 && (lines[most].length == 0 || t.has(b) > t.has(most)) {
			most = b
		}
	}
	return &lines[most]
}

// aboveShare reports whether w's tenant has more than its share of the limit, at the cost
// of others.
func (t *tenants) aboveShare(w *Waiter, limit int) bool {
	active := int64(0)
	for b := range t.running {
		if t.has(b) > 0 {
			active++
		}
	}
	return active > 1 && t.has(t.of(w))*active > int64(limit)
}

// ahead counts the waiters in w's lane that are served before w, which has not joined yet:
// all of its own tenant, and of each other tenant as many as start until it runs as much.
func (t *tenants) ahead(w *Waiter) int {
	lines, own := t.inLane(w.Lane), t.of(w)
	level := t.running[own] + int64(lines[own].length) + 1
	ahead := int64(lines[own].length)
	for b := range lines {
		if b != own {
			ahead += min(int64(lines[b].length), max(0, level-t.running[b]))
		}
	}
	return int(ahead)
}
