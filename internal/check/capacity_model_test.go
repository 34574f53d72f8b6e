package check

import (
	"errors"
	"slices"
	"testing"

	"github.com/weir-go/weir/capacity"
	"github.com/weir-go/weir/internal/trusted"
	"pgregory.net/rapid"
)

var reserve = trusted.Of[*capacity.Capacity, *capacity.Request, capacity.Grant]()

// A modelLevel is an observer of one capacity: it knows its amounts, and the waiting
// reservations in order of arrival. It judges every answer.
type modelLevel struct {
	*capacity.Capacity
	parent          *modelLevel
	limit, withheld map[string]int64
	used            map[string]int64
	waiting         []*modelReservation
}

type modelReservation struct {
	trusted.Reservation[*capacity.Request, capacity.Grant]
	at      *modelLevel
	request capacity.Vector
	woken   int
}

type modelGrant struct {
	capacity.Grant
	at      *modelLevel
	by      *modelReservation // nil without one
	request capacity.Vector
	back    bool
}

type capacityModel struct {
	*rapid.T
	levels []*modelLevel
	grants []*modelGrant
}

// path returns the level and its ancestors.
func (l *modelLevel) path() (path []*modelLevel) {
	for ; l != nil; l = l.parent {
		path = append(path, l)
	}
	return path
}

func (l *modelLevel) fits(v capacity.Vector) bool {
	for name, units := range v {
		if limit, here := l.limit[name]; here && units > limit-l.withheld[name]-l.used[name] {
			return false
		}
	}
	return true
}

func (l *modelLevel) fitsEverywhere(v capacity.Vector) bool {
	return !slices.ContainsFunc(l.path(), func(l *modelLevel) bool { return !l.fits(v) })
}

func (l *modelLevel) neverFits(v capacity.Vector) bool {
	for _, l := range l.path() {
		for name, units := range v {
			if limit, here := l.limit[name]; here && units > limit {
				return true
			}
		}
	}
	return false
}

// granted records a grant, which must have fitted, by a reservation or nil.
func (m *capacityModel) granted(at *modelLevel, by *modelReservation, request capacity.Vector, g capacity.Grant) {
	if !at.fitsEverywhere(request) {
		m.Fatalf("granted %v, which does not fit", request)
	}
	for _, l := range at.path() {
		for name, units := range request {
			if _, here := l.limit[name]; here {
				l.used[name] += units
			}
		}
	}
	m.grants = append(m.grants, &modelGrant{Grant: g, at: at, by: by, request: request})
}

// collect finds the reservations that the last call answered: in each queue, none before an
// earlier one.
func (m *capacityModel) collect() {
	for again := true; again; {
		again = false
		for _, l := range m.levels {
			for len(l.waiting) > 0 {
				w := l.waiting[0]
				g, err := w.Grant()
				if errors.Is(err, trusted.ErrWaiting) {
					break
				}
				switch {
				case err == nil && !l.fitsEverywhere(w.request):
					m.Fatalf("granted %v, which does not fit", w.request)
				case err == nil:
					m.granted(l, w, w.request, g)
				case !errors.Is(err, capacity.ErrNeverFits) || !l.neverFits(w.request):
					m.Fatalf("%v refused: %v", w.request, err)
				}
				if w.woken != 1 {
					m.Fatalf("answered, and woken %d times", w.woken)
				}
				l.waiting, again = l.waiting[1:], true
			}
		}
	}
}

// check compares the capacity with the granted and released amounts.
func (m *capacityModel) check() {
	m.collect()
	blocks := false // a reservation that is next in its own queue lacks capacity above
	for _, l := range m.levels {
		if len(l.waiting) > 0 && l.parent != nil && l.fits(l.waiting[0].request) &&
			!l.parent.fits(l.waiting[0].request) {
			blocks = true
		}
		if len(l.waiting) > 0 && l.parent == nil && !l.fits(l.waiting[0].request) {
			blocks = true
		}
	}
	for _, l := range m.levels {
		snapshot, out := l.Snapshot(), 0
		for _, g := range m.grants {
			if g.at == l && !g.back {
				out++
			}
		}
		if snapshot.Grants != out {
			m.Fatalf("%d grants are out, want %d", snapshot.Grants, out)
		}
		for name, limit := range l.limit {
			free := limit - l.withheld[name] - l.used[name]
			want := capacity.ResourceSnapshot{
				Limit: limit, InUse: l.used[name], Available: max(0, free), Owed: max(0, -free),
				Withheld: min(l.withheld[name], max(0, limit-l.used[name])),
			}
			if snapshot.Resources[name] != want {
				m.Fatalf("%s: %+v, want %+v", name, snapshot.Resources[name], want)
			}
		}
		for i, w := range l.waiting {
			if _, err := w.Grant(); !errors.Is(err, trusted.ErrWaiting) {
				m.Fatalf("%v was served before %v", w.request, l.waiting[0].request)
			}
			if w.woken != 0 {
				m.Fatal("woken without an answer")
			}
			if i == 0 && l.fitsEverywhere(w.request) && !blocks {
				m.Fatalf("%v is first and fits, but waits", w.request)
			}
			if i == 0 && l.fits(w.request) && l.neverFits(w.request) && !blocks {
				m.Fatalf("%v is first and can never fit, but waits", w.request)
			}
		}
	}
}

func (m *capacityModel) drawNeed() capacity.Vector {
	return rapid.SampledFrom([]capacity.Vector{
		{"slots": 1},
		{"slots": 1},
		{"slots": 2},
		{"slots": 4},
		{"memory": 3},
		{"slots": 1, "memory": 2},
		{"slots": 2, "memory": 5},
		{},
	}).Draw(m.T, "need")
}

func (m *capacityModel) drawLevel() *modelLevel {
	return m.levels[rapid.IntRange(0, len(m.levels)-1).Draw(m.T, "level")]
}

func newCapacityModel(t *rapid.T) *capacityModel {
	m := &capacityModel{T: t}
	add := func(parent *modelLevel) *modelLevel {
		limits := capacity.Vector{
			"slots":  rapid.Int64Range(0, 6).Draw(t, "slots"),
			"memory": rapid.Int64Range(0, 9).Draw(t, "memory"),
		}
		l := &modelLevel{parent: parent, limit: limits, withheld: capacity.Vector{}, used: capacity.Vector{}}
		var err error
		if parent == nil {
			l.Capacity, err = capacity.New(limits)
		} else {
			l.Capacity, err = parent.Child(limits)
		}
		if err != nil {
			t.Fatal(err)
		}
		m.levels = append(m.levels, l)
		return l
	}
	root := add(nil)
	for range rapid.IntRange(0, 2).Draw(t, "children") {
		add(root)
	}
	return m
}

// request compiles a vector, and reports whether the request can ever fit.
func (m *capacityModel) request(l *modelLevel, v capacity.Vector) (*capacity.Request, bool) {
	n, err := l.Request(v)
	if (err == nil) == l.neverFits(v) {
		m.Fatalf("need %v: %v", v, err)
	}
	return n, err == nil
}

func (m *capacityModel) try() {
	l, v := m.drawLevel(), m.drawNeed()
	n, possible := m.request(l, v)
	if !possible {
		return
	}
	anyone := slices.ContainsFunc(m.levels, func(l *modelLevel) bool { return len(l.waiting) > 0 })
	g, err := l.TryAcquire(n)
	switch {
	case err == nil:
		if len(l.waiting) > 0 {
			m.Fatal("overtook who waits")
		}
		m.granted(l, nil, v, g)
	case l.fitsEverywhere(v) && !anyone:
		m.Fatalf("%v fits: %v", v, err)
	}
}

func (m *capacityModel) reserve() {
	l, v := m.drawLevel(), m.drawNeed()
	n, possible := m.request(l, v)
	if !possible {
		return
	}
	w := &modelReservation{at: l, request: v}
	var err error
	if w.Reservation, err = reserve(l.Capacity, n, func() { w.woken++ }); err != nil {
		m.Fatal(err)
	}
	if g, err := w.Grant(); err == nil {
		if len(l.waiting) > 0 {
			m.Fatal("overtook who waits")
		}
		m.granted(l, w, v, g)
		return
	}
	l.waiting = append(l.waiting, w)
}

// backfill overtakes a reservation with its owner's permission.
func (m *capacityModel) backfill() {
	l, v := m.drawLevel(), m.drawNeed()
	n, possible := m.request(l, v)
	if !possible || len(l.waiting) == 0 {
		return
	}
	i := rapid.IntRange(0, len(l.waiting)-1).Draw(m.T, "waiter")
	if g, err := l.waiting[i].Backfill(n); err == nil {
		if i > 0 {
			m.Fatal("overtook who waits in front")
		}
		m.granted(l, nil, v, g)
	}
}

func (m *capacityModel) cancel() {
	l := m.drawLevel()
	if len(l.waiting) == 0 {
		return
	}
	i := rapid.IntRange(0, len(l.waiting)-1).Draw(m.T, "waiter")
	w := l.waiting[i]
	l.waiting = slices.Delete(l.waiting, i, i+1)
	w.Cancel()
	w.Cancel() // changes nothing
}

func (m *capacityModel) release() {
	if len(m.grants) == 0 {
		return
	}
	m.giveBack(m.grants[rapid.IntRange(0, len(m.grants)-1).Draw(m.T, "grant")])
}

func (m *capacityModel) giveBack(g *modelGrant) {
	if g.by != nil && rapid.Bool().Draw(m.T, "cancel") {
		g.by.Cancel()
		if _, err := g.by.Grant(); !errors.Is(err, trusted.ErrCancelled) {
			m.Fatalf("cancelled, and then %v", err)
		}
	} else {
		g.Release()
	}
	if g.back {
		return // it was back before: nothing changed
	}
	g.back = true
	for _, l := range g.at.path() {
		for name, units := range g.request {
			if _, here := l.limit[name]; here {
				l.used[name] -= units
			}
		}
	}
}

func (m *capacityModel) resize() {
	l := m.drawLevel()
	name := rapid.SampledFrom([]string{"slots", "memory"}).Draw(m.T, "resource")
	limit := rapid.Int64Range(0, 9).Draw(m.T, "limit")
	l.limit[name], l.withheld[name] = limit, min(l.withheld[name], limit)
	if err := l.SetLimit(name, limit); err != nil {
		m.Fatal(err)
	}
}

func (m *capacityModel) hold() {
	l := m.drawLevel()
	name := rapid.SampledFrom([]string{"slots", "memory"}).Draw(m.T, "resource")
	withheld := rapid.Int64Range(0, l.limit[name]).Draw(m.T, "reserve")
	l.withheld[name] = withheld
	if err := l.Withhold(name, withheld); err != nil {
		m.Fatal(err)
	}
}

// No resource exceeds its limit, the granted amounts equal the amounts in use, a shrink is
// collected as work ends, waiters are served in order, and in the end every waiter is
// answered.
func TestCapacityModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newCapacityModel(t)
		t.Repeat(map[string]func(*rapid.T){
			"":         func(*rapid.T) { m.check() },
			"try":      func(*rapid.T) { m.try() },
			"reserve":  func(*rapid.T) { m.reserve() },
			"backfill": func(*rapid.T) { m.backfill() },
			"cancel":   func(*rapid.T) { m.cancel() },
			"back":     func(*rapid.T) { m.release() },
			"back2":    func(*rapid.T) { m.release() },
			"resize":   func(*rapid.T) { m.resize() },
			"hold":     func(*rapid.T) { m.hold() },
		})
		for _, l := range m.levels {
			for name := range l.limit {
				l.withheld[name] = 0
				if err := l.Withhold(name, 0); err != nil {
					t.Fatal(err)
				}
				m.check()
			}
		}
		for i := 0; i < len(m.grants); i++ {
			m.giveBack(m.grants[i])
			m.check() // appends the served reservations
		}
		for _, l := range m.levels {
			if len(l.waiting) > 0 {
				t.Fatalf("%v was never answered", l.waiting[0].request)
			}
		}
	})
}
