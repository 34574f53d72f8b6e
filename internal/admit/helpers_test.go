package admit_test

import (
	"testing"
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/queue"
	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/window"
	"github.com/weir-go/weir/law"
)

const ms = time.Millisecond

// A rig drives one node and provides the time.
type rig struct {
	t    *testing.T
	node *admit.Node
	now  time.Duration
	fx   admit.Effects // of the last call
}

// settings returns the settings of a small node with a plain queue; change adapts them.
func settings(limit int, change func(*admit.Settings)) admit.Settings {
	s := admit.Settings{
		Bounds:   law.Bounds{Min: 1, Max: 100, Initial: limit},
		Interval: time.Second, Lookback: 10 * time.Second, MinSamples: 1,
		QueueSize: 10, QueueTimeout: time.Second,
	}
	if change != nil {
		change(&s)
	}
	return s
}

func newRig(t *testing.T, limit int, change func(*admit.Settings)) *rig {
	t.Helper()
	return newLawRig(t, law.Fixed{}, settings(limit, change), nil)
}

func newLawRig(t *testing.T, l law.Law, s admit.Settings, group *admit.Group) *rig {
	t.Helper()
	node, err := admit.New(s, l, group, 0)
	if err != nil {
		t.Fatal(err)
	}
	return &rig{t: t, node: node}
}

// adaptiveQueue turns the adaptive discipline on, without a bound of its own.
func adaptiveQueue(s *admit.Settings) { s.Order, s.QueueSize = queue.Adaptive, 0 }

// call starts a call: it forgets the effects of the last one and returns the time.
func (r *rig) call() (now int64, fx *admit.Effects) {
	r.fx = admit.Effects{}
	return int64(r.now), &r.fx
}

func (r *rig) ask(w admit.Work) (*reply.Ticket, reply.Verdict) {
	now, fx := r.call()
	ticket := new(reply.Ticket)
	verdict := r.node.Acquire(ticket, w, now, fx)
	r.fx.Woken.Wake()
	return ticket, verdict
}

// must admits work of the given weight at once.
func (r *rig) must(weight int) *reply.Ticket {
	r.t.Helper()
	return r.admitted(admit.Work{Weight: weight})
}

func (r *rig) admitted(w admit.Work) *reply.Ticket {
	r.t.Helper()
	ticket, verdict := r.ask(w)
	if verdict != reply.Admitted {
		r.t.Fatalf("at %v: %+v was not admitted: %v", r.now, w, verdict)
	}
	return ticket
}

func (r *rig) try(weight int) reply.Verdict {
	_, verdict := r.ask(admit.Work{Weight: weight, NoWait: true})
	return verdict
}

func (r *rig) done(ticket *reply.Ticket, outcome window.Outcome) bool {
	now, fx := r.call()
	was := r.node.Done(*ticket, now, outcome, fx)
	r.fx.Woken.Wake()
	return was
}

func (r *rig) update(s admit.Settings, l law.Law) {
	r.t.Helper()
	now, fx := r.call()
	if err := r.node.Update(s, l, now, fx); err != nil {
		r.t.Fatal(err)
	}
	r.fx.Woken.Wake()
}

func (r *rig) drain() <-chan struct{} {
	now, fx := r.call()
	drained := r.node.Drain(now, fx)
	r.fx.Woken.Wake()
	return drained
}

func (r *rig) state() admit.State { return r.node.State(int64(r.now)) }

// wantCounts checks the work in flight and the queue.
func (r *rig) wantCounts(inFlight, queued int) {
	r.t.Helper()
	if s := r.state(); s.InFlight != inFlight || s.Queued != queued {
		r.t.Fatalf("at %v: %d in flight and %d queued, want %d and %d", r.now, s.InFlight, s.Queued, inFlight, queued)
	}
}

// A request waits and counts how often it is woken or notified to recheck.
type request struct {
	queue.Waiter
	woken, rechecked int
}

func (q *request) Wake()    { q.woken++ }
func (q *request) Recheck() { q.rechecked++ }

// weighs, inLane and due are options of a request.
func weighs(weight int) func(*request) { return func(q *request) { q.Weight = weight } }
func inLane(lane int) func(*request)   { return func(q *request) { q.Lane = lane } }
func due(deadline time.Duration) func(*request) {
	return func(q *request) { q.Deadline = int64(deadline) }
}

// join has a request join the queue and returns it, whatever the verdict.
func (r *rig) join(options ...func(*request)) *request {
	q := &request{}
	q.Owner, q.Weight = q, 1
	for _, option := range options {
		option(q)
	}
	now, fx := r.call()
	r.node.Join(&q.Waiter, now, fx)
	r.fx.Woken.Wake()
	return q
}

func (r *rig) leave(q *request, why reply.Verdict) reply.Verdict {
	now, fx := r.call()
	v := r.node.Leave(&q.Waiter, why, now, fx)
	r.fx.Woken.Wake()
	return v
}

// want checks the verdicts of requests.
func want(t *testing.T, verdict reply.Verdict, requests ...*request) {
	t.Helper()
	for i, q := range requests {
		if got := q.Verdict; got != verdict {
			t.Errorf("request %d: %v, want %v", i, got, verdict)
		}
	}
}

// lawFunc is a law made of a function.
type lawFunc func(law.Window) law.Decision

func (f lawFunc) Controller(law.Bounds) (law.Controller, error) { return f, nil }
func (f lawFunc) Next(w law.Window) law.Decision                { return f(w) }

// recorder is a law that records the windows it is shown and answers from a list of limits.
// It repeats the last one; with an empty list it keeps the limit.
type recorder struct {
	windows []law.Window
	limits  []float64
	plan    law.Plan
}

func (l *recorder) Controller(law.Bounds) (law.Controller, error) { return l, nil }

func (l *recorder) Next(w law.Window) law.Decision {
	d := law.Decision{Limit: float64(w.Limit), Next: l.plan}
	if w.Elapsed == 0 && len(l.windows) == 0 && w.Last == 0 {
		w.Latencies = nil
	}
	l.windows = append(l.windows, w)
	if len(l.windows) > 1 && len(l.limits) > 0 { // the first call only plans
		d.Limit = l.limits[0]
		if len(l.limits) > 1 {
			l.limits = l.limits[1:]
		}
	}
	return d
}

// closed is how many windows the law has judged, without the first, which only plans.
func (l *recorder) closed() int { return len(l.windows) - 1 }

func (l *recorder) last() law.Window { return l.windows[len(l.windows)-1] }
