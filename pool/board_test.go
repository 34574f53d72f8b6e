package pool

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/weir-go/weir/capacity"
)

// A boardModel drives a board without goroutines: it performs the effects of the board
// late and in any order, as the goroutines of a run may, and judges the fate of each task.
type boardModel struct {
	*testing.T
	*rand.Rand
	board
	at       time.Duration
	c        *capacity.Capacity
	requests []*capacity.Request // the first is the default
	todo     []func(*boardModel)
	items    []*item
	running  []*item
	ended    map[*item]Kind // by the last event
	others   []capacity.Grant
	woken    bool // the place in the queue came up
	stopped  bool
}

func newBoardModel(t *testing.T, seed uint64) *boardModel {
	m := &boardModel{T: t, Rand: rand.New(rand.NewPCG(seed, 0)), ended: map[*item]Kind{}}
	m.c = noError(capacity.New(capacity.Vector{"slots": 4}))
	for _, n := range []int64{1, 2, 4} {
		m.requests = append(m.requests, noError(m.c.Request(capacity.Vector{"slots": n})))
	}
	conf := noError(Config{
		Capacity: m.c, Source: Slice(nil), Lookahead: 1 + m.IntN(8), Backfill: 1 + m.IntN(4),
		Buffer: 1 + m.IntN(8), StopOnError: m.IntN(8) == 0, Aging: time.Second,
	}.withDefaults())
	m.board = newBoard(&conf, m.requests[0], func() { m.woken = true })
	return m
}

func noError[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func (m *boardModel) moment() moment {
	m.at += time.Duration(m.IntN(1000)) * time.Millisecond
	return moment{at: m.at, cut: m.cut}
}

// perform enters the effects of a call.
func (m *boardModel) perform(fx *effects) {
	for it := m.booked.take(); it != nil; it = m.booked.take() {
		m.run(it)
	}
	for _, e := range fx.ends {
		m.later(func(m *boardModel) { m.call(func(fx *effects) { m.settled(e.Event, fx) }) })
	}
}

func (m *boardModel) later(f func(*boardModel)) { m.todo = append(m.todo, f) }

func (m *boardModel) call(f func(fx *effects)) {
	fx := &effects{}
	f(fx)
	m.perform(fx)
}

// run enters that an item was started, and judges whether it may be.
func (m *boardModel) run(it *item) {
	if m.stopped {
		m.Fatalf("%s was started after the end", it.Key)
	}
	if m.ended[it] != 0 || slices.Contains(m.running, it) {
		m.Fatalf("%s was started twice", it.Key)
	}
	if it.Err() != nil {
		m.Fatalf("%s was started without its lease", it.Key)
	}
	for _, key := range it.After {
		if !slices.ContainsFunc(m.items, func(o *item) bool {
			return o.Key == key && m.ended[o] == Done
		}) && m.settling == 0 && !m.published(key) {
			m.Fatalf("%s was started before %s", it.Key, key)
		}
	}
	m.running = append(m.running, it)
}

// published reports whether a Done of the key waits to be read.
func (m *boardModel) published(key string) bool {
	return slices.ContainsFunc(m.events, func(e Event) bool { return e.Key == key && e.Kind == Done })
}

// one performs any pending effect.
func (m *boardModel) one() bool {
	if len(m.todo) == 0 {
		return false
	}
	i := m.IntN(len(m.todo))
	next := m.todo[i]
	m.todo = slices.Delete(m.todo, i, i+1)
	next(m)
	return true
}

func (m *boardModel) claim() {
	n := m.IntN(4)
	items := make([]item, n)
	for i := range items {
		it := &items[i]
		it.Key = fmt.Sprint(len(m.items))
		it.Priority = m.IntN(5)
		it.request = m.requests[max(0, m.IntN(5)-2)]
		if len(m.items) > 0 && m.IntN(4) == 0 {
			it.After = []string{m.items[m.IntN(len(m.items))].Key}
		}
		if m.IntN(8) == 0 {
			it.fault = errors.New("invalid")
		}
		m.lend(it)
		m.items = append(m.items, it)
	}
	m.call(func(fx *effects) { m.add(items, m.moment(), fx) })
}

// lend gives some tasks a lease.
func (m *boardModel) lend(it *item) {
	it.Context = m.Context()
	if m.IntN(3) == 0 {
		ctx, lose := context.WithCancelCause(it.Context)
		it.Context, it.lease = ctx, &lease{lose: lose}
	}
}

// lose loses the lease of a task that waits.
func (m *boardModel) lose() {
	for _, it := range m.ready.all() {
		if it.lease != nil {
			it.lease.lose(ErrLeaseLost)
			return
		}
	}
}

func (m *boardModel) finish() {
	if len(m.running) == 0 {
		return
	}
	i := m.IntN(len(m.running))
	it := m.running[i]
	m.running = slices.Delete(m.running, i, i+1)
	var a attempt
	if m.IntN(6) == 0 {
		a.err = errors.New("failed")
	}
	it.grant.Release()
	m.call(func(fx *effects) { m.board.ended(it, a, m.moment(), fx) })
}

func (m *boardModel) read() {
	m.call(func(fx *effects) {
		page := m.board.read(nil, m.moment(), fx)
		for _, e := range page.events {
			if e.Kind != Done && e.Kind != Failed && e.Kind != Cancelled {
				continue
			}
			for _, it := range m.items {
				if it.Key != e.Key {
					continue
				}
				if m.ended[it] != 0 {
					m.Fatalf("%s: %v after %v", e.Key, e.Kind, m.ended[it])
				}
				m.ended[it] = e.Kind
			}
		}
	})
}

func (m *boardModel) look() {
	m.call(func(fx *effects) { m.start(m.moment(), fx) })
	m.woken = false
}

func (m *boardModel) other() {
	if len(m.others) > 0 && m.IntN(2) == 0 {
		m.others[0].Release()
		m.others = m.others[1:]
		return
	}
	if g, err := m.c.TryAcquire(m.requests[m.IntN(2)]); err == nil {
		m.others = append(m.others, g)
	}
}

// check judges the state between two calls.
func (m *boardModel) check() {
	s := m.snapshot()
	if s.Running != len(m.running) {
		m.Fatalf("%d run, want %d", s.Running, len(m.running))
	}
	waiting := 0
	for _, e := range m.events {
		if e.Kind == Done || e.Kind == Failed || e.Kind == Cancelled {
			waiting++
		}
	}
	if n := m.left() + len(m.ended) + waiting; n != len(m.items) {
		m.Fatalf("%d of %d tasks are known of: %+v", n, len(m.items), s)
	}
	if s.Running > 0 && len(m.events) > 2*m.conf.Buffer+len(m.items) {
		m.Fatalf("%d events", len(m.events))
	}
	custom := 0
	for _, it := range m.ready.all() {
		if it.request != m.cost {
			custom++
		}
	}
	if m.ready.custom != custom {
		m.Fatalf("%d of a cost of their own, want %d", m.ready.custom, custom)
	}
	if len(m.todo) > 0 || m.woken || m.board.stopped || m.full(0) || m.ready.len() == 0 {
		return
	}
	if m.place.reservation == nil { // nothing is left to be done, so that something waits for a reason
		m.Fatalf("%d could start, and do not stand in the queue", m.ready.len())
	}
	if m.place.of != m.ready.first() {
		m.Fatalf("%s stands in the queue, not the first", m.place.of.Key)
	}
	if m.place.passed > m.conf.Backfill {
		m.Fatalf("%d passed it, of %d that may", m.place.passed, m.conf.Backfill)
	}
}

// TestBoardModel draws the events of a board and when its effects are performed. Each task ends
// once, after its dependencies; a task that could start does, or is in the queue; and in the end
// nothing is left, here or of the capacity.
func TestBoardModel(t *testing.T) {
	for seed := range uint64(500) {
		m := newBoardModel(t, seed)
		for range 200 {
			switch m.IntN(13) {
			case 0, 1:
				m.claim()
			case 2, 3:
				m.finish()
			case 4, 5:
				m.read()
			case 6:
				m.look()
			case 7:
				m.other()
			case 8:
				m.lose()
			case 9:
				if m.IntN(40) == 0 {
					m.stopped = true
					m.call(func(fx *effects) { m.dismiss(ErrDrained, fx) })
				}
			default:
				m.one()
			}
			m.stopped = m.stopped || m.board.stopped
			m.check()
		}
		m.call(func(fx *effects) { m.end(nil, fx) })
		for _, g := range m.others {
			g.Release()
		}
		for i := 0; !m.finished() || len(m.todo) > 0 || len(m.events) > 0; i++ {
			if i > 10_000 {
				t.Fatalf("seed %d: it does not end: %+v", seed, m.snapshot())
			}
			m.look()
			m.read()
			m.finish()
			for m.one() {
			}
			m.stopped = m.stopped || m.board.stopped
			m.check()
		}
		if s := m.c.Snapshot(); s.Grants != 0 || s.Waiting != 0 || len(m.ended) != len(m.items) {
			t.Fatalf("seed %d: %+v, %d of %d ended", seed, s, len(m.ended), len(m.items))
		}
	}
}
