package lease

import (
	"time"

	"github.com/weir-go/weir/law"
)

// A member holds a share until its lease ends, and states its needs.
type member struct {
	conf     Config
	promised Epoch
	applied  uint64 // the number of the last grant of that epoch
	settled  bool   // whether it ever applied a grant
	lease    time.Duration
	share    int
	keep     int
	members  int           // of the fleet, as of the last grant
	sent     time.Duration // when it sent the last want; 0 before the first
	said     int           // the need in the last want
	hurry    bool          // whether the allocator waits for the next want
	reported *law.Report   // the last report that it sent
	answered *law.Report   // the last report when advice came
	advice   *law.Advice   // advice that the law has not taken yet
	advised  time.Duration // when the last advice came, 0 while the law learns alone
}

func newMember(c Config) member {
	m := member{conf: c}
	if c.Fallback == Local {
		m.share = MostSlots
	}
	return m
}

// promise accepts no grants of earlier epochs from now on.
func (m *member) promise(e Epoch) {
	if m.promised.Before(e) {
		m.promised, m.applied, m.hurry = e, 0, true
	}
}

// apply takes a grant. It reports whether the share changed.
func (m *member) apply(now time.Duration, g Grant) (changed bool) {
	end := g.Answers + g.TTL
	earlier := g.Answers > m.sent // the grant is for an earlier process with this ID
	if g.Epoch.Before(m.promised) || end <= now || earlier {
		return false
	}
	m.promise(g.Epoch)
	if g.Number <= m.applied {
		return false
	}
	before := m.share
	m.applied, m.settled = g.Number, true
	m.lease, m.share, m.keep, m.members = end, g.Share, g.Keep, g.Members
	m.hear(now, g)
	m.hurry = m.hurry || m.share < before // the allocator waits for this to give the slots away
	return m.share != before
}

// hear takes advice, unless it is about a report from before the last advice.
func (m *member) hear(now time.Duration, g Grant) {
	if g.Advice != nil && (m.advised == 0 || g.About > m.advised) {
		m.advice, m.advised, m.answered = g.Advice, now, m.reported
	}
}

// expire falls back at the end of the lease.
func (m *member) expire(now time.Duration) {
	if m.lease == 0 || now < m.lease {
		return
	}
	m.lease = 0
	if m.advised > 0 {
		m.advice, m.advised = &law.Advice{}, 0
	}
	switch m.conf.Fallback {
	case Keep:
		m.share = min(m.share, m.keep)
	case Refuse:
		m.share = 0
	case Local:
		m.share = MostSlots
	}
}

// due reports whether to send a want: in each refresh, and at once when the allocator waits for it
// or the need has risen by half.
func (m *member) due(now time.Duration, load Load) bool {
	known := max(m.said, m.share)
	return m.sent == 0 || m.hurry || now >= m.sent+m.conf.Refresh || load.Need-known > known/2
}

func (m *member) want(now time.Duration, load Load) Want {
	m.sent, m.said, m.hurry = now, load.Need, false
	w := Want{
		Epoch: m.promised, Applied: m.applied, Settled: m.settled, Sent: now,
		Cap: m.conf.Cap, Weight: m.conf.Weight, Need: load.Need,
		Held: m.share, Running: load.Running, Keep: m.keep, Refuse: m.conf.Fallback == Refuse,
	}
	if m.share == MostSlots { // the member is on its own, without a lease
		w.Held = load.Running
	}
	// A report is in each want until there is advice, as a store may show only the newest want.
	// While the law has not taken advice, its reports are from before the advice.
	if load.Report != m.answered && m.advice == nil {
		m.reported, w.Report = load.Report, load.Report
	}
	return w
}
