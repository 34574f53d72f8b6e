package admit

import (
	"sync"
	"time"

	"github.com/weir-go/weir/internal/window"
	"github.com/weir-go/weir/law"
)

// Settings are a node's settings, checked and complete.
type Settings struct {
	Bounds       law.Bounds
	Interval     time.Duration // between decisions
	Lookback     time.Duration // how far back the law looks
	MinSamples   int           // completions that a decision needs
	QueueSize    int
	QueueTimeout time.Duration
	Adaptive     bool // the adaptive discipline, for which a QueueSize of 0 is no bound
	Lanes        int
	Tenants      int  // buckets in which tenants are told apart, 0 for none
	Shadow       bool // admit everything, count what would have been refused
	Observed     bool // report changes and number events
	Cumulative   bool // measure what window.Cumulative has

	// Wall reads the wall clock, once a window; nil if there is none.
	Wall func() time.Time

	// Of a node in a group.
	Name  string // in the group's state
	Stake *Stake // nil to keep it, or for no reserve and a share of 1
}

// A Node admits work up to a limit that a law moves. All its methods are safe
// for concurrent use and take the time in nanoseconds on one monotonic scale; a
// time up to a second before one that was seen counts as that one (see clock.go).
type Node struct {
	mu     sync.Mutex
	member *member // nil without a group

	// What every call touches stands together.
	flags    flags
	carried  bool // work that started before the window counts among its samples
	limit    int32
	inflight int64 // in shadow mode of virtual work, see shadow.go
	last     int64 // the time of the last call
	due      int64 // when the window closes
	meter    *window.Meter
	admitted uint64

	completed  uint64
	expired    int64 // when the window closes with however few samples
	minSamples int32
	maxSamples int32 // 0 if the window does not close early

	control law.Controller
	conf    conf

	queue    *queue    // nil until something has to wait
	pressure *pressure // nil until the limit is reached
	outcomes outcomes
	history  history
	decided  reason // the law's last word
	events   uint64
}

// conf is Settings in little memory: a service may hold a hundred thousand nodes.
type conf struct {
	interval, lookback, queueTimeout int64
	min, max, minSamples, queueSize  int32
	wall                             func() time.Time
	lanes                            uint8
	adaptive, observed, cumulative   bool
}

// span bounds a duration so that adding a few to any time does not overflow.
func span(d time.Duration) int64 { return min(max(int64(d), 0), 1<<60) }

// outcomes counts the work that did not succeed.
type outcomes struct {
	failed, timedOut, ignored uint64
}

// flags are what keeps a request from the short way through Acquire.
type flags uint8

const (
	closed flags = 1 << iota
	shadow
	waiting
	tenanted
	paced
)

func (f *flags) set(bit flags, on bool) {
	*f &^= bit
	if on {
		*f |= bit
	}
}

// Effects is what a call leaves to be done after it, without the lock.
type Effects struct {
	Woken       Woken
	Change      *Change // a change of the limit, if the node is observed
	RetryAfter  int64   // with a refusal: when to come back, in nanoseconds
	Seq         uint64  // the number of the refusal or misuse
	Panic       error   // the law panicked; the limit was held
	Notable     bool    // one of the following, Change or Panic is set
	Replaced    bool    // Change came with a law that starts afresh
	Misused     bool    // a ticket was given back that was not out
	Lapsed      int32   // how much would have been refused after it had waited, on a shadow node,
	LapsedSeq   uint64  // and the number of the first of these
	WouldRefuse Verdict // what a shadow node would have answered, if not Admitted
}

// None reports whether there is nothing to do.
func (fx *Effects) None() bool {
	return fx.Woken.first == nil && fx.Woken.nudged == nil && !fx.Notable
}

// New returns a node that starts at now. The group is nil for a node of its own.
func New(s Settings, l law.Law, group *Group, now int64) (*Node, error) {
	n := &Node{}
	return n, n.Init(s, l, group, now)
}

// Init makes the zero Node what New returns, so that a node can be part of
// something larger.
func (n *Node) Init(s Settings, l law.Law, group *Group, now int64) error {
	control, err := controllerOf(l, s.Bounds)
	if err != nil {
		return err
	}
	n.control, n.last = control, now
	n.limit = int32(s.Bounds.Initial)
	n.configure(s)
	n.setTenants(s.Tenants, now)
	n.setShadow(s.Shadow, now, nil) // nobody waits
	var fx Effects
	n.begin(now, first(control, s.Bounds, &fx))
	if fx.Panic != nil {
		panic(fx.Panic)
	}
	if group != nil {
		return group.join(n, s)
	}
	return nil
}

func (n *Node) configure(s Settings) {
	n.conf = conf{
		interval:     span(s.Interval),
		lookback:     span(s.Lookback),
		queueTimeout: span(s.QueueTimeout),
		min:          int32(s.Bounds.Min),
		max:          int32(s.Bounds.Max),
		minSamples:   int32(s.MinSamples),
		queueSize:    int32(s.QueueSize),
		wall:         s.Wall,
		lanes:        uint8(s.Lanes),
		adaptive:     s.Adaptive,
		observed:     s.Observed,
		cumulative:   s.Cumulative,
	}
}

// advance moves the node's time on and closes the window if that is due.
func (n *Node) advance(now int64, fx *Effects) int64 {
	if n.flags&shadow != 0 {
		n.catchUp(now, fx)
	}
	now = n.flow(now)
	if now >= n.due {
		n.closeWindow(now, fx)
	}
	return now
}

// flow books the time since the last call, which went by as the node was left. Of what only
// the group or the pace holds back the law must not hear: a limit that was not reached
// says nothing about a higher one (decision 0007).
func (n *Node) flow(now int64) int64 {
	if now < n.last-farBack {
		n.turnBack(now)
	}
	now = max(now, n.last)
	saturated, limited := n.saturated(), false
	if saturated && !n.awaitsPace() {
		n.pressed().pass(n.last, now, n.conf.lookback)
		limited = !n.awaitsGroup()
	}
	if n.queue != nil && n.queue.adaptive != nil {
		n.queue.adaptive.pass(n, now-n.last, saturated)
	}
	if n.meter != nil {
		n.meter.Flow(now, int(n.inflight), limited)
	}
	if n.flags&(paced|shadow) != 0 {
		n.passSeldom(now)
	}
	n.last = now
	return now
}

// passSeldom books time for what few nodes have.
func (n *Node) passSeldom(now int64) {
	if n.flags&paced != 0 {
		n.pressure.seldom.pacer.fill(now - n.last)
	}
	if n.flags&shadow != 0 {
		n.passInShadow(now)
	}
}

func (n *Node) nextEvent() uint64 {
	if !n.conf.observed {
		return 0
	}
	n.events++
	return n.events
}
