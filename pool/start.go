package pool

import (
	"errors"
	"time"

	"github.com/weir-go/weir/capacity"
)

// start starts what can be started, under the lock. If inline, the first is returned
// instead, for the caller to run on its own goroutine.
func (r *run) start(at time.Duration, inline bool) (mine *item, grant capacity.Grant) {
	for !r.stopped && r.ctx.Err() == nil && r.ready.len() > 0 && r.hasRoom() && r.gate.open(at) {
		it, g, err := r.next()
		if it == nil {
			r.observeWant()
			break
		}
		if it.need != r.cost {
			r.odd--
		}
		if err != nil { // a limit fell below what it needs
			r.fail(it, Event{Kind: Failed, Err: Permanent(err)})
			continue
		}
		r.launch(it, at)
		if inline && mine == nil {
			mine, grant = it, g
			continue
		}
		r.spawn(it, g)
	}
	if r.ready.len() == 0 {
		r.turn.leave()
	}
	if r.ready.len()+len(r.resting) <= r.conf.Lookahead/2 && !r.fed {
		signal(r.hungry)
	}
	return mine, grant
}

// hasRoom reports whether there is room for one more event, under the lock. Who has released its
// grant has one to tell.
func (r *run) hasRoom() bool { return len(r.events)+int(r.releasing.Load()) < r.conf.Buffer }

// next removes the item that is next from those that could start and takes what it needs, or says
// why it can never have that. It returns none if what is needed is not free.
func (r *run) next() (*item, capacity.Grant, error) {
	first := r.ready.first()
	g, err := r.turn.take(first.need, first)
	if !errors.Is(err, capacity.ErrWaiting) {
		return r.ready.take(), g, err
	}
	it, g := r.backfill(first)
	return it, g, nil
}

// launch books that an item runs.
func (r *run) launch(it *item, at time.Duration) {
	it.waited += max(0, at-it.since)
	it.since = at
	it.attempt++
	it.index = len(r.running)
	r.running = append(r.running, it)
	r.gate.enter()
	r.observeStart(it, at)
}

// land books that it does not run any more.
func (r *run) land(it *item) {
	last := len(r.running) - 1
	r.running[it.index] = r.running[last]
	r.running[it.index].index = it.index
	r.running[last] = nil
	r.running = r.running[:last]
}

// backfill looks for an item that fits where the first, which waits for its turn, does not,
// and takes what it needs.
func (r *run) backfill(first *item) (*item, capacity.Grant) {
	if r.conf.Strict || r.turn.passed >= r.conf.Backfill || r.ready.len() == 1 || r.odd == 0 {
		return nil, capacity.Grant{}
	}
	// As far as it would have to let others pass; only heads of the heap are sorted.
	aside := make([]*item, 0, r.conf.Backfill)
	defer func() {
		for _, it := range aside {
			r.ready.add(it)
		}
	}()
	aside = append(aside, r.ready.take())
	for len(aside) <= r.conf.Backfill && r.ready.len() > 0 {
		it := r.ready.first()
		if it.need != first.need {
			if g, err := r.turn.claim.Pass(it.need); err == nil {
				r.turn.passed++
				return r.ready.take(), g
			}
		}
		aside = append(aside, r.ready.take())
	}
	return nil, capacity.Grant{}
}

// A turn is the pool's place in the queue of its capacity: that of the task which is
// first. It is guarded by the lock of the run.
type turn struct {
	run    *run
	woken  func()          // wake
	claim  *capacity.Claim // nil: none
	of     *item
	passed int  // by how many tasks
	waited bool // the last claim had to
}

// take returns the grant of an item, or [capacity.ErrWaiting] and keeps its place, or why it
// can never have one.
func (t *turn) take(need *capacity.Need, it *item) (capacity.Grant, error) {
	if t.of != it {
		t.leave()
	}
	if t.claim == nil {
		if !t.waited { // a claim costs more than to try, and less than to try in vain
			g, err := t.run.conf.Capacity.TryAcquire(need)
			if err == nil || errors.Is(err, capacity.ErrNeverFits) {
				return g, err
			}
		}
		var err error
		if t.claim, err = t.run.conf.Capacity.Claim(need, t.woken); err != nil {
			t.claim = nil
			return capacity.Grant{}, err
		}
		g, err := t.claim.Take()
		t.of, t.passed, t.waited = it, 0, errors.Is(err, capacity.ErrWaiting)
		if !t.waited {
			t.claim, t.of = nil, nil
		}
		return g, err
	}
	g, err := t.claim.Take()
	if !errors.Is(err, capacity.ErrWaiting) {
		t.claim, t.of = nil, nil
	}
	return g, err
}

// wake is called when the turn has come. A worker that is about to look anyway need not be
// told.
func (t *turn) wake() {
	if t.run.releasing.Load() == 0 {
		signal(t.run.nudge)
	}
}

func (t *turn) leave() {
	if t.claim != nil {
		t.claim.Cancel()
	}
	t.claim, t.of = nil, nil
}
