package check

import (
	"slices"
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/queue"
	"github.com/weir-go/weir/internal/reply"
	"pgregory.net/rapid"
)

// A model is an observer of the nodes of a group, or of a single node: it knows the
// outstanding tickets and the waiting requests, in order of arrival. It predicts nothing; it
// judges every answer.
type model struct {
	*rapid.T
	now   int64 // the latest time passed to any node
	group *admit.Group
	cap   int // of the group, 0 without one
	nodes []*modelNode
	woken []*modelWaiter // by the current call, in order

	rechecked []*modelWaiter // waiters to be rechecked

	panicked any // in a law: a node would hide it
}

type modelNode struct {
	*admit.Node
	*model
	settings admit.Settings
	wild     bool // its law moves the limit
	limit    int
	highest  int // limit during the current call,
	lowest   int // and the lowest
	last     int64
	closed   bool
	drained  <-chan struct{}

	inFlight  int
	out       []*modelTicket
	waiters   []*modelWaiter // unanswered
	answered  []*modelWaiter // admitted, but not yet seen by their owners
	before    int            // unanswered before the current call, without its newcomer
	requests  uint64
	cancelled uint64
	completed uint64
	refused   map[reply.Verdict]uint64

	// Turns since a lower lane was served before a higher one, minimum and maximum, and
	// turns of other lanes since each lane had one.
	strictAtLeast, strictAtMost int
	without                     [lanes]int
}

// lanes is the number of lanes of the nodes. Every gift-th turn during which a lower lane
// waits goes to that lane.
const lanes, gift = queue.Lanes, 20

type modelTicket struct {
	reply.Ticket
	weight int
}

type modelWaiter struct {
	queue.Waiter
	node    *modelNode
	expires int64
	due     int64 // Deadline, which the core may rewrite
	calls   int   // of Wake

	adaptive bool // the discipline at the time it joined
}

func (w *modelWaiter) Wake() {
	w.calls++
	w.node.woken = append(w.node.woken, w)
}

func (w *modelWaiter) Recheck() { w.node.rechecked = append(w.node.rechecked, w) }

// far is a deadline far beyond any time in a test.
const far = int64(1000 * time.Hour)

// call makes one call at the given time and judges the waiters that it answered. newcomer is
// the request that joins with it, if any. The caller judges the answer to the call itself,
// and then calls check.
func (n *modelNode) call(newcomer *modelWaiter, do func(now int64, fx *admit.Effects)) {
	for _, each := range n.nodes {
		each.before, each.highest, each.lowest = len(each.waiters), each.limit, each.limit
	}
	if newcomer != nil {
		newcomer.node.before--
	}
	now := n.now
	if (newcomer == nil || n.cap == 0) && oneIn(n.T, 10, "late") {
		now -= rapid.Int64Range(0, int64(time.Second)).Draw(n.T, "by") // overtaken by other calls
	}
	n.last = max(n.last, now)
	n.woken = nil
	var fx admit.Effects
	do(now, &fx)
	if n.panicked != nil {
		panic(n.panicked)
	}
	fx.Woken.Wake()
	for _, w := range n.woken {
		w.node.judge(w, max(now, w.node.last), newcomer)
	}
	if len(n.rechecked) > 0 {
		w := n.rechecked[0]
		n.rechecked = n.rechecked[1:]
		w.node.lookAgain(w)
	}
}

// lookAgain acts as the owner of a waiter that must be rechecked.
func (n *modelNode) lookAgain(w *modelWaiter) {
	n.call(nil, func(now int64, fx *admit.Effects) {
		verdict := n.Recheck(&w.Waiter, true, now, fx)
		if verdict.Refused() && !answeredBy(fx, w) && slices.Contains(n.waiters, w) {
			n.judge(w, n.now, nil) // not woken, because its owner looked, and out before others start
		}
	})
}

// judge checks the answer with which a waiter was woken.
func (n *modelNode) judge(w *modelWaiter, now int64, newcomer *modelWaiter) {
	verdict := w.Verdict
	switch verdict {
	case reply.Admitted:
		if now >= w.expires {
			n.Fatalf("dispatched %v after its time was up", time.Duration(now-w.expires))
		}
		if w.due != 0 && now > w.due {
			n.Fatalf("dispatched %v after its deadline", time.Duration(now-w.due))
		}
		if waited := w.Queued; waited < 0 {
			n.Fatalf("it waited %v", time.Duration(waited))
		}
		if !n.isNext(w, nil) && !n.isNext(w, newcomer) {
			n.Fatalf("dispatched out of turn: lane %d, %d to %d turns in strict order before, without a turn for %v",
				w.Lane, n.strictAtLeast, n.strictAtMost, n.without)
		}
		n.took(w, newcomer)
		n.inFlight += w.Weight
		if alone := n.wild && n.inFlight == w.Weight; n.inFlight > n.highest && !alone && !n.settings.Shadow {
			n.Fatalf("dispatched beyond the limit: %d in flight of %d", n.inFlight, n.highest)
		}
		n.answered = append(n.answered, w)
	case reply.QueueTimeout:
		if n.now < w.expires && n.settings.Order == queue.FIFO && !w.adaptive {
			n.Fatalf("timed out %v early", time.Duration(w.expires-n.now))
		}
	case reply.Deadline:
		if w.due == far || w.due == 0 {
			n.Fatalf("refused for a deadline that is far")
		}
	case reply.QueueFull:
		if !n.givesWay(w) {
			n.Fatalf("gave up the wrong waiter for a newcomer")
		}
	case reply.TooHeavy:
		if w.Weight <= n.heaviest(n.lowest) && (n.cap == 0 || w.Weight <= n.cap) {
			n.Fatalf("weight %d is too heavy for %d", w.Weight, n.heaviest(n.lowest))
		}
	case reply.Closed:
		if !n.closed {
			n.Fatalf("refused as closed while open")
		}
	case reply.Cancelled: // admitted by the same call with which it left
		if w != newcomer {
			n.Fatalf("cancelled by a stranger")
		}
		n.completed++
	default:
		n.Fatalf("woken with %v", verdict)
	}
	if verdict.Refused() {
		n.refused[verdict]++
	}
	n.remove(w)
}

// see records a new limit.
func (n *modelNode) see() {
	n.highest, n.lowest = max(n.highest, n.limit), min(n.lowest, n.limit)
}

// waiting counts the waiters of each lane, without except.
func (n *modelNode) waiting(except *modelWaiter) (count [lanes]int) {
	for _, w := range n.waiters {
		if w != except {
			count[w.Lane]++
		}
	}
	return count
}

// isNext reports whether w is next, ignoring except.
func (n *modelNode) isNext(w, except *modelWaiter) bool {
	if w == except {
		return true
	}
	count, highest := n.waiting(except), 0
	for count[highest] == 0 {
		highest++
	}
	for lane := highest + 1; lane < lanes; lane++ {
		switch {
		case count[lane] == 0:
		case w.Lane == highest && n.strictAtLeast >= gift-1:
			return false // a lower lane is due
		case w.Lane != highest && n.without[lane] > n.without[w.Lane]:
			return false // and has waited longer
		}
	}
	if w.Lane != highest && n.strictAtMost < gift-1 {
		return false
	}
	return n.settings.Order == queue.Adaptive || w == n.oldest(w.Lane)
}

// oldest returns the longest-waiting request of the lane.
func (n *modelNode) oldest(lane int) *modelWaiter {
	for _, w := range n.waiters {
		if w.Lane == lane {
			return w
		}
	}
	return nil
}

// took records w's turn. Whether the newcomer had joined by then is unknown.
func (n *modelNode) took(w, newcomer *modelWaiter) {
	n.strictAtMost = min(n.strictAtMost+1, gift-1)
	n.strictAtLeast = min(n.strictAtLeast+1, gift-1)
	with, without := n.waiting(nil), n.waiting(newcomer)
	for lane := range lanes {
		n.without[lane]++
		if lane < w.Lane && with[lane] > 0 {
			n.strictAtLeast = 0
		}
		if lane < w.Lane && without[lane] > 0 {
			n.strictAtMost = 0
		}
	}
	n.without[w.Lane] = 0
}

// givesWay reports whether w is the one to drop from a queue that is too long: the oldest of
// the lowest lane, or the newest, unless that lane is due and has no other.
func (n *modelNode) givesWay(w *modelWaiter) bool {
	count := n.waiting(nil)
	for lane := w.Lane + 1; lane < lanes; lane++ {
		if count[lane] > 1 || count[lane] == 1 && n.strictAtMost < gift-1 {
			return false
		}
	}
	if n.settings.Order == queue.Adaptive {
		return w == n.oldest(w.Lane)
	}
	newest := w
	for _, other := range n.waiters {
		if other.Lane == w.Lane {
			newest = other
		}
	}
	return w == newest
}

func (n *modelNode) remove(w *modelWaiter) {
	i := slices.Index(n.waiters, w)
	if i < 0 {
		n.Fatalf("answered a second time: %d calls of Wake", w.calls)
	}
	n.waiters = slices.Delete(n.waiters, i, i+1)
}

// hasRoom reports whether weight fits below the limit, or is heavier and may run alone.
func (n *modelNode) hasRoom(weight int) bool {
	return n.inFlight+weight <= n.limit || n.inFlight == 0 && weight <= n.heaviest(n.limit)
}

// heaviest is the largest weight that may run at a limit: beyond that alone, if a law moves it.
func (n *modelNode) heaviest(limit int) int {
	if n.wild {
		return n.settings.Bounds.Max
	}
	return limit
}

// fits reports whether weight has room here and below the cap.
func (n *modelNode) fits(weight int) bool {
	return n.hasRoom(weight) && (n.cap == 0 || n.total()+weight <= n.cap)
}

// lineIsHeld reports whether another node has waiting work that only the cap blocks, and
// that holds all others behind it.
func (n *modelNode) lineIsHeld() bool {
	for _, other := range n.nodes {
		for _, w := range other.waiters {
			if other != n && other.hasRoom(w.Weight) && !other.fits(w.Weight) {
				return true
			}
		}
	}
	return false
}

func (n *modelNode) tooHeavy(weight int) bool {
	return weight > n.heaviest(n.limit) || n.cap > 0 && weight > n.cap
}

func (m *model) total() int {
	total := 0
	for _, n := range m.nodes {
		total += n.inFlight
	}
	return total
}

// check compares the counts of all nodes with the model.
func (m *model) check() {
	for _, n := range m.nodes {
		n.check()
	}
	if m.group != nil {
		if got := m.group.State().InFlight; got != m.total() || got > m.cap {
			m.Fatalf("group: %d in flight, want %d and at most %d", got, m.total(), m.cap)
		}
	}
}

func (n *modelNode) check() {
	s := n.State(n.now)
	if s.Limit != n.limit || s.Limit < n.settings.Bounds.Min || s.Limit > n.settings.Bounds.Max {
		n.Fatalf("limit %d, want %d and within %+v", s.Limit, n.limit, n.settings.Bounds)
	}
	if s.InFlight != n.inFlight {
		n.Fatalf("%d in flight, but tickets for %d are out", s.InFlight, n.inFlight)
	}
	if s.Queued != len(n.waiters) {
		n.Fatalf("%d queued, but %d wait", s.Queued, len(n.waiters))
	}
	room := n.settings.QueueSize
	if n.settings.Order == queue.Adaptive && room == 0 {
		room = 1000
	}
	if s.Queued > room && s.Queued > n.before {
		n.Fatalf("%d queued, want at most %d", s.Queued, room)
	}
	refused := uint64(0)
	for v, got := range s.Refused {
		refused += got
		if want := n.refused[reply.Verdict(v)]; got != want {
			n.Fatalf("%d refused with %v, want %d", got, reply.Verdict(v), want)
		}
	}
	if s.Cancelled != n.cancelled || s.Completed != n.completed {
		n.Fatalf("%d cancelled and %d completed, want %d and %d", s.Cancelled, s.Completed, n.cancelled, n.completed)
	}
	if sum := s.Admitted + refused + s.Cancelled + uint64(s.Queued); sum != n.requests {
		n.Fatalf("%d requests are accounted for, %d were made", sum, n.requests)
	}
	if running := uint64(len(n.out) + len(n.answered)); s.Admitted != s.Completed+running {
		n.Fatalf("%d admitted, but %d completed and %d run", s.Admitted, s.Completed, running)
	}
	n.checkNobodyForgotten()
}

// checkNobodyForgotten checks for a lost wake-up: the next waiter must not fit, or would not
// wait.
func (n *modelNode) checkNobodyForgotten() {
	stuck := len(n.waiters) == 0
	for _, w := range n.waiters {
		if n.settings.Order == queue.Adaptive {
			stuck = stuck || !n.fits(w.Weight) || n.lineIsHeld()
		} else if n.isNext(w, nil) {
			stuck = !n.fits(w.Weight) || n.lineIsHeld()
		}
		if w.calls != 0 {
			n.Fatalf("woken without an answer")
		}
	}
	if !stuck {
		n.Fatalf("a waiter has room and was not dispatched: %d in flight of %d, %d queued",
			n.inFlight, n.limit, len(n.waiters))
	}
	if n.drained != nil {
		select {
		case <-n.drained:
			if n.inFlight > 0 || len(n.waiters) > 0 {
				n.Fatalf("drained with %d in flight and %d queued", n.inFlight, len(n.waiters))
			}
			n.drained = nil
		default:
			if n.inFlight == 0 && len(n.waiters) == 0 {
				n.Fatalf("empty, but not drained")
			}
		}
	}
}
