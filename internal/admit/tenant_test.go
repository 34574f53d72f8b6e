package admit_test

import (
	"testing"
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/window"
	"github.com/weir-go/weir/law"
)

// Hashes of tenants.
const (
	ann = uint16(17 + iota)
	bob
	cid
	dan
)

// tenants turns fairness on, on top of other changes.
func tenants(changes ...func(*admit.Settings)) func(*admit.Settings) {
	return func(s *admit.Settings) {
		s.Tenants = 64
		s.QueueTimeout = time.Hour
		for _, change := range changes {
			change(s)
		}
	}
}

func from(tenant uint16) func(*request) { return func(q *request) { q.Tenant = tenant } }

// starts admits the given number of pieces of the tenant's work at once.
func (r *rig) starts(tenant uint16, times int) (tickets []*reply.Ticket) {
	r.t.Helper()
	for range times {
		tickets = append(tickets, r.admitted(admit.Work{Tenant: tenant, Weight: 1}))
	}
	return tickets
}

// wantNext joins two requests in this order, ends a piece of work, and checks that the second
// is served.
func (r *rig) wantNext(ticket *reply.Ticket, first, second uint16) *reply.Ticket {
	r.t.Helper()
	passed, next := r.join(from(first)), r.join(from(second))
	r.done(ticket, window.Ignore)
	want(r.t, reply.Waiting, passed)
	want(r.t, reply.Admitted, next)
	r.leave(passed, reply.Cancelled)
	return &next.Ticket
}

func TestTenantsTakeTurns(t *testing.T) {
	for name, discipline := range disciplines {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 1, tenants(discipline, func(s *admit.Settings) { s.QueueSize, s.Bounds.Initial = 12, 3 }))
			tickets := r.starts(ann, 3)
			served := map[uint16]int{}
			waiting := map[uint16]*request{}
			for range 30 {
				for tenant := ann; tenant <= dan; tenant++ {
					if waiting[tenant] == nil {
						waiting[tenant] = r.join(from(tenant))
					}
				}
				r.done(tickets[0], window.Ignore)
				for tenant, q := range waiting {
					if q != nil && q.Verdict == reply.Admitted {
						tickets = append(tickets[1:], &q.Ticket)
						waiting[tenant] = nil
						served[tenant]++
					}
				}
			}
			for tenant, n := range served {
				if n < 7 || n > 8 || len(served) != 4 {
					t.Errorf("tenant %d was served %d times of 30: want 7 or 8", tenant, n)
				}
			}
		})
	}
}

// The waiting work of a noisy tenant is not ahead of another tenant's work, and so no reason
// to expect a missed deadline.
func TestNoisyTenantCostsNobodyTheDeadline(t *testing.T) {
	r := newRig(t, 2, tenants(func(s *admit.Settings) { s.QueueSize = 100 }))
	tickets := r.starts(ann, 2)
	for range 20 { // a hundred a second
		r.now += 20 * ms
		for i := range tickets {
			q := r.join(from(ann))
			r.done(tickets[i], window.Success)
			tickets[i] = &q.Ticket
		}
	}
	for range 20 {
		want(t, reply.Waiting, r.join(from(ann)))
	}
	want(t, reply.Waiting, r.join(from(bob), due(r.now+100*ms)))
	want(t, reply.Deadline, r.join(from(ann), due(r.now+100*ms)))
	for range 3 {
		r.join(from(cid))
	}
	want(t, reply.Deadline, r.join(from(cid), due(r.now+60*ms)))
}

// Tenants beyond the number of the setting share one share, so that bob, who runs less than both of
// them, is served. A lower number counts from the update on.
func TestTenantsBeyondTheirNumberShareAShare(t *testing.T) {
	of := func(n int) admit.Settings {
		return settings(5, tenants(func(s *admit.Settings) { s.Tenants, s.QueueSize = n, 9 }))
	}
	for _, before := range []int{2, 64} {
		r := newLawRig(t, law.Fixed{}, of(before), nil)
		for tenant := ann; tenant <= dan; tenant++ {
			r.done(r.starts(tenant, 1)[0], window.Ignore)
		}
		r.update(of(2), law.Fixed{})
		mine, bobs := r.starts(ann, 1), r.starts(bob, 1)
		r.starts(cid, 1)
		r.starts(dan, 1)
		r.starts(bob, 1) // after both
		r.done(bobs[0], window.Ignore)
		r.starts(ann, 1)
		r.wantNext(mine[0], cid, bob)
	}
}

// An update may turn fairness between tenants on or off.
func TestTenantsChangeUnderThoseWhoWait(t *testing.T) {
	without := settings(4, func(s *admit.Settings) { s.QueueTimeout = time.Hour })
	with, fewer := settings(4, tenants()), settings(4, tenants(func(s *admit.Settings) { s.Tenants = 32 }))
	r := newLawRig(t, law.Fixed{}, without, nil)
	tickets := r.starts(ann, 4)
	for _, s := range []admit.Settings{with, fewer, without, with, without, fewer} {
		first, second := r.join(from(ann)), r.join(from(bob))
		before := r.state()
		r.update(s, law.Fixed{})
		if after := r.state(); after.InFlight != before.InFlight || after.Queued != before.Queued {
			t.Errorf("%d tenants: %d in flight and %d queued, were %d and %d",
				s.Tenants, after.InFlight, after.Queued, before.InFlight, before.Queued)
		}
		r.done(tickets[0], window.Ignore)
		r.done(tickets[1], window.Ignore)
		want(t, reply.Admitted, first, second)
		tickets = append(tickets[2:], &first.Ticket, &second.Ticket)
	}
	for _, ticket := range tickets {
		r.done(ticket, window.Ignore)
	}
	r.wantCounts(0, 0)
	tickets = r.starts(ann, 4)
	r.wantNext(tickets[0], ann, bob) // nothing of the earlier state is left
}

// Work that runs through changes stays its tenant's, and may end without fairness.
func TestWorkRunsThroughChanges(t *testing.T) {
	of := func(n int) admit.Settings {
		return settings(6, tenants(func(s *admit.Settings) { s.Tenants = n }))
	}
	for _, changes := range [][]int{{64}, {2}, {2, 64}, {2, 0, 64}, {0, 64, 2}} {
		r := newLawRig(t, law.Fixed{}, of(64), nil)
		old := r.starts(ann, 3)
		for _, n := range changes {
			r.update(of(n), law.Fixed{})
		}
		anns := r.starts(ann, 1)
		r.starts(bob, 2)
		bobs := r.wantNext(anns[0], ann, bob)
		r.update(of(0), law.Fixed{})
		for _, ticket := range old {
			r.done(ticket, window.Ignore)
		}
		r.update(of(64), law.Fixed{})
		r.starts(ann, 1)
		r.starts(cid, 2)
		r.wantNext(bobs, bob, ann)
	}
}

// A tenant keeps its place when the one that it had before a change is given to another.
func TestTenantsMove(t *testing.T) {
	of := func(n int) admit.Settings {
		return settings(3, tenants(func(s *admit.Settings) { s.Tenants = n }))
	}
	r := newLawRig(t, law.Fixed{}, of(64), nil)
	for tenant := ann; tenant <= cid; tenant++ {
		r.done(r.starts(tenant, 1)[0], window.Ignore)
	}
	r.update(of(2), law.Fixed{})
	r.starts(cid, 1)
	r.starts(ann, 1)
	r.update(of(3), law.Fixed{})
	dans := r.starts(dan, 1)
	r.wantNext(dans[0], cid, bob)
}

// Work of tenants that a lower number left out makes no share smaller: a tenant that is alone is
// not above its share. A tenant with another place after the number has risen again counts once.
func TestTenantsThatMoveMakeNoShareSmaller(t *testing.T) {
	of := func(n int) admit.Settings {
		return settings(3, tenants(func(s *admit.Settings) { s.Tenants, s.QueueSize = n, 1 }))
	}
	for name, test := range map[string]struct {
		alone uint16
		rises bool
	}{"left out": {ann, false}, "moves": {bob, true}} {
		t.Run(name, func(t *testing.T) {
			r := newLawRig(t, law.Fixed{}, of(2), nil)
			r.done(r.starts(ann, 1)[0], window.Ignore)
			r.starts(bob, 2)
			r.update(of(1), law.Fixed{})
			r.starts(test.alone, 1)
			if test.rises {
				r.update(of(2), law.Fixed{})
			}
			want(t, reply.Waiting, r.join(from(test.alone)))
			want(t, reply.QueueFull, r.join(from(test.alone)))
		})
	}
}
