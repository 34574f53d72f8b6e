package check

import (
	"slices"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/queue"
	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/window"
	"github.com/weir-go/weir/law"
	"pgregory.net/rapid"
)

// firstTenant and the three after it are the tenants of the model.
const firstTenant, manyTenants = 7, 4

// No tenant within its share is refused for lack of room while another above its share waits
// in the same lane, a free slot goes to the tenant with the least work in flight, each
// tenant is served in order, no lane starves, and every waiter is answered once; for any mix.
func TestTenantsAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &tenantModel{T: t, limit: rapid.IntRange(1, 8).Draw(t, "limit")}
		m.lanes = rapid.IntRange(1, 3).Draw(t, "lanes")
		m.order = anyOrder.Draw(t, "order")
		node, err := admit.New(admit.Settings{
			Bounds:   law.Bounds{Min: m.limit, Max: m.limit, Initial: m.limit},
			Interval: time.Hour, Lookback: time.Hour, MinSamples: 1,
			QueueSize: rapid.IntRange(1, 9).Draw(t, "size"), QueueTimeout: 1 << 60,
			Order: m.order, Tenants: manyTenants,
		}, law.Fixed{}, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		m.node = node
		weights := rapid.SampledFrom([]int{1, rapid.IntRange(1, 3).Draw(t, "weight")})
		noisy := rapid.IntRange(0, 9).Draw(t, "noise")
		for range rapid.IntRange(10, 300).Draw(t, "steps") {
			switch rapid.SampledFrom([]string{"join", "join", "done", "done", "leave", "pass"}).Draw(t, "step") {
			case "join":
				tenant := 0
				if rapid.IntRange(0, 9).Draw(t, "quiet") >= noisy {
					tenant = rapid.IntRange(0, manyTenants-1).Draw(t, "tenant")
				}
				m.join(tenant, min(m.limit, weights.Draw(t, "weight")), rapid.IntRange(0, m.lanes-1).Draw(t, "lane"))
			case "done":
				if len(m.out) > 0 {
					m.done(rapid.IntRange(0, len(m.out)-1).Draw(t, "ticket"))
				}
			case "leave":
				if len(m.waiters) > 0 && oneIn(t, 4, "leaves") {
					m.leave(m.waiters[rapid.IntRange(0, len(m.waiters)-1).Draw(t, "waiter")])
				}
			case "pass":
				m.now += int64(rapid.SampledFrom([]time.Duration{
					time.Microsecond, time.Second, 11 * time.Second,
				}).Draw(t, "time"))
			}
			m.check()
		}
		for len(m.waiters) > 0 {
			m.leave(m.waiters[0])
		}
		for len(m.out) > 0 {
			m.done(0)
		}
		if s := node.State(m.now); s.InFlight != 0 || s.Queued != 0 {
			t.Fatalf("%d in flight and %d queued at the end", s.InFlight, s.Queued)
		}
	})
}

// A tenantModel is an observer that keeps the accounts of each tenant.
type tenantModel struct {
	*rapid.T
	node  *admit.Node
	now   int64
	limit int
	lanes int // in use
	order queue.Order

	out     []*tenantWaiter
	waiters []*tenantWaiter // in order of arrival
	running [manyTenants]int
	starved [lanes]int // turns of others while the lane had work waiting
	woken   []*tenantWaiter
}

type tenantWaiter struct {
	queue.Waiter
	model  *tenantModel
	tenant int
}

func (w *tenantWaiter) Wake() { w.model.woken = append(w.model.woken, w) }

// call makes a call and judges its answers in order.
func (m *tenantModel) call(do func(*admit.Effects)) {
	m.woken = nil
	var fx admit.Effects
	do(&fx)
	fx.Woken.Wake()
	for _, w := range m.woken {
		switch w.Verdict {
		case reply.Admitted:
			m.judgeTurn(w)
			m.remove(w)
			m.start(w)
		case reply.QueueFull, reply.OverShare:
			m.judgeRefusal(w, w.Verdict)
			m.remove(w)
		default:
			m.Fatalf("woken with %v", w.Verdict)
		}
	}
}

func (m *tenantModel) join(tenant, weight, lane int) {
	w := &tenantWaiter{model: m, tenant: tenant}
	w.Owner, w.Weight, w.Lane, w.Tenant = w, weight, lane, firstTenant+uint16(tenant)
	var verdict reply.Verdict
	m.call(func(fx *admit.Effects) {
		verdict = m.node.Acquire(&w.Ticket, admit.Work{Tenant: w.Tenant, Weight: w.Weight}, m.now, fx)
	})
	switch verdict {
	case reply.Admitted:
		m.start(w)
		return
	case reply.MustWait:
	default:
		m.Fatalf("acquired: %v", verdict)
	}
	m.waiters = append(m.waiters, w)
	m.call(func(fx *admit.Effects) {
		switch verdict := m.node.Join(&w.Waiter, m.now, fx); verdict {
		case reply.Waiting:
		case reply.QueueFull, reply.OverShare:
			m.judgeRefusal(w, verdict)
			m.remove(w)
		default:
			m.Fatalf("joined: %v", verdict)
		}
	})
}

func (m *tenantModel) start(w *tenantWaiter) {
	m.running[w.tenant] += w.Weight
	m.out = append(m.out, w)
}

func (m *tenantModel) done(i int) {
	w := m.out[i]
	m.out = append(m.out[:i:i], m.out[i+1:]...)
	m.running[w.tenant] -= w.Weight
	m.call(func(fx *admit.Effects) { m.node.Done(w.Ticket, m.now, window.Ignore, fx) })
}

func (m *tenantModel) leave(w *tenantWaiter) {
	m.remove(w)
	m.call(func(fx *admit.Effects) {
		if got := m.node.Leave(&w.Waiter, reply.Cancelled, m.now, fx); got != reply.Cancelled {
			m.Fatalf("left with %v", got)
		}
	})
}

func (m *tenantModel) remove(w *tenantWaiter) {
	i := slices.Index(m.waiters, w)
	if i < 0 {
		m.Fatalf("answered a second time")
	}
	m.waiters = slices.Delete(m.waiters, i, i+1)
}

// judgeTurn checks that no other waiter should have had the slot.
func (m *tenantModel) judgeTurn(w *tenantWaiter) {
	var waits [lanes]bool
	for _, other := range m.waiters {
		waits[other.Lane] = true
		if other.Lane == w.Lane && m.running[other.tenant] < m.running[w.tenant] {
			m.Fatalf("tenant %d, which runs %d, was served before tenant %d, which runs %d",
				w.tenant, m.running[w.tenant], other.tenant, m.running[other.tenant])
		}
	}
	for _, other := range m.waiters {
		if other == w {
			break
		}
		if m.order == queue.FIFO && other.Lane == w.Lane && other.tenant == w.tenant {
			m.Fatalf("served before another of its tenant that came earlier")
		}
	}
	for lane := range m.lanes {
		m.starved[lane]++
		if lane == w.Lane || !waits[lane] {
			m.starved[lane] = 0
		}
		if m.starved[lane] >= gift*max(1, m.lanes-1) {
			m.Fatalf("lane %d starves: %d turns of others", lane, m.starved[lane])
		}
	}
}

// judgeRefusal checks that the waiter refused for lack of room was the right one to drop.
func (m *tenantModel) judgeRefusal(w *tenantWaiter, verdict reply.Verdict) {
	has, active := m.running, 0
	for _, other := range m.waiters {
		has[other.tenant] += other.Weight
	}
	for _, n := range has {
		if n > 0 {
			active++
		}
	}
	above := func(tenant int) bool { return active > 1 && has[tenant]*active > m.limit }
	if above(w.tenant) != (verdict == reply.OverShare) {
		m.Fatalf("%v: tenant %d has %d, where each of %d has a share in %d",
			verdict, w.tenant, has[w.tenant], active, m.limit)
	}
	for _, other := range m.waiters {
		if other.Lane == w.Lane && !above(w.tenant) && above(other.tenant) {
			m.Fatalf("tenant %d has %d, within its share, and was refused while tenant %d has %d and waits",
				w.tenant, has[w.tenant], other.tenant, has[other.tenant])
		}
		if other.Lane == w.Lane && has[other.tenant] > has[w.tenant] {
			m.Fatalf("tenant %d has %d and was refused, not tenant %d, which has %d",
				w.tenant, has[w.tenant], other.tenant, has[other.tenant])
		}
	}
}

func (m *tenantModel) check() {
	total := 0
	for _, n := range m.running {
		total += n
	}
	s := m.node.State(m.now)
	if s.InFlight != total || s.Queued != len(m.waiters) || total > m.limit {
		m.Fatalf("%d in flight and %d queued, want %d and %d, and at most %d in flight",
			s.InFlight, s.Queued, total, len(m.waiters), m.limit)
	}
	if room := m.limit - total; len(m.waiters) > 0 && room > 0 {
		for _, w := range m.waiters {
			if w.Weight > room {
				return // it may be next
			}
		}
		m.Fatalf("there is room for %d, but %d wait", room, len(m.waiters))
	}
}
