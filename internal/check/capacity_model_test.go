package check

import (
	"errors"
	"slices"
	"testing"

	"github.com/weir-go/weir/capacity"
	"pgregory.net/rapid"
)

// A modelLevel is what an onlooker knows of one capacity: its amounts, and the claims that wait
// for an answer, in order of arrival. It judges every answer as it comes.
type modelLevel struct {
	*capacity.Capacity
	parent         *modelLevel
	limit, reserve map[string]int64
	used           map[string]int64
	waiting        []*modelClaim
}

type modelClaim struct {
	*capacity.Claim
	at    *modelLevel
	need  capacity.Vector
	woken int
}

type modelGrant struct {
	capacity.Grant
	at   *modelLevel
	need capacity.Vector
	back bool
}

type capacityModel struct {
	*rapid.T
	levels []*modelLevel
	grants []*modelGrant
}

// path is the level and those above it.
func (l *modelLevel) path() (path []*modelLevel) {
	for ; l != nil; l = l.parent {
		path = append(path, l)
	}
	return path
}

func (l *modelLevel) fits(v capacity.Vector) bool {
	for name, units := range v {
		if limit, here := l.limit[name]; here && units > limit-l.reserve[name]-l.used[name] {
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

// granted enters a grant, which must have fitted.
func (m *capacityModel) granted(at *modelLevel, need capacity.Vector, g capacity.Grant) {
	if !at.fitsEverywhere(need) {
		m.Fatalf("granted %v, which does not fit", need)
	}
	for _, l := range at.path() {
		for name, units := range need {
			if _, here := l.limit[name]; here {
				l.used[name] += units
			}
		}
	}
	m.grants = append(m.grants, &modelGrant{Grant: g, at: at, need: need})
}

// collect finds the claims that the last call answered: in each queue, none before an earlier one.
func (m *capacityModel) collect() {
	for again := true; again; {
		again = false
		for _, l := range m.levels {
			for len(l.waiting) > 0 {
				w := l.waiting[0]
				g, err := w.Take()
				if errors.Is(err, capacity.ErrWaiting) {
					break
				}
				switch {
				case err == nil && !l.fitsEverywhere(w.need):
					m.Fatalf("granted %v, which does not fit", w.need)
				case err == nil:
					m.granted(l, w.need, g)
				case !errors.Is(err, capacity.ErrNeverFits) || !l.neverFits(w.need):
					m.Fatalf("%v refused: %v", w.need, err)
				}
				if w.woken != 1 {
					m.Fatalf("answered, and woken %d times", w.woken)
				}
				l.waiting, again = l.waiting[1:], true
			}
		}
	}
}

// check holds the capacity against what was granted and given back.
func (m *capacityModel) check() {
	m.collect()
	blocks := false // somebody who has a turn in its own queue is short above
	for _, l := range m.levels {
		if len(l.waiting) > 0 && l.parent != nil && l.fits(l.waiting[0].need) && !l.parent.fits(l.waiting[0].need) {
			blocks = true
		}
		if len(l.waiting) > 0 && l.parent == nil && !l.fits(l.waiting[0].need) {
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
			free := limit - l.reserve[name] - l.used[name]
			want := capacity.Usage{
				Limit: limit, InUse: l.used[name], Available: max(0, free), Owed: max(0, -free),
				Reserved: min(l.reserve[name], max(0, limit-l.used[name])),
			}
			if snapshot.Resources[name] != want {
				m.Fatalf("%s: %+v, want %+v", name, snapshot.Resources[name], want)
			}
		}
		for i, w := range l.waiting {
			if _, err := w.Take(); !errors.Is(err, capacity.ErrWaiting) {
				m.Fatalf("%v was served before %v", w.need, l.waiting[0].need)
			}
			if w.woken != 0 {
				m.Fatal("woken without an answer")
			}
			if i == 0 && l.fitsEverywhere(w.need) && !blocks {
				m.Fatalf("%v is first and fits, but waits", w.need)
			}
			if i == 0 && l.fits(w.need) && l.neverFits(w.need) && !blocks {
				m.Fatalf("%v is first and can never fit, but waits", w.need)
			}
		}
	}
}

func (m *capacityModel) drawNeed() capacity.Vector {
	return rapid.SampledFrom([]capacity.Vector{
		{"slots": 1}, {"slots": 1}, {"slots": 2}, {"slots": 4}, {"memory": 3}, {"slots": 1, "memory": 2}, {"slots": 2, "memory": 5}, {},
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
		l := &modelLevel{parent: parent, limit: limits, reserve: capacity.Vector{}, used: capacity.Vector{}}
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

// need compiles, and reports whether the need can ever fit.
func (m *capacityModel) need(l *modelLevel, v capacity.Vector) (*capacity.Need, bool) {
	n, err := l.Need(v)
	if (err == nil) == l.neverFits(v) {
		m.Fatalf("need %v: %v", v, err)
	}
	return n, err == nil
}

func (m *capacityModel) try() {
	l, v := m.drawLevel(), m.drawNeed()
	n, possible := m.need(l, v)
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
		m.granted(l, v, g)
	case l.fitsEverywhere(v) && !anyone:
		m.Fatalf("%v fits: %v", v, err)
	}
}

func (m *capacityModel) claim() {
	l, v := m.drawLevel(), m.drawNeed()
	n, possible := m.need(l, v)
	if !possible {
		return
	}
	w := &modelClaim{at: l, need: v}
	var err error
	if w.Claim, err = l.Claim(n, func() { w.woken++ }); err != nil {
		m.Fatal(err)
	}
	if g, err := w.Take(); err == nil {
		if len(l.waiting) > 0 {
			m.Fatal("overtook who waits")
		}
		m.granted(l, v, g)
		return
	}
	l.waiting = append(l.waiting, w)
}

// pass overtakes a claim with its owner's leave.
func (m *capacityModel) pass() {
	l, v := m.drawLevel(), m.drawNeed()
	n, possible := m.need(l, v)
	if !possible || len(l.waiting) == 0 {
		return
	}
	i := rapid.IntRange(0, len(l.waiting)-1).Draw(m.T, "waiter")
	if g, err := l.waiting[i].Pass(n); err == nil {
		if i > 0 {
			m.Fatal("overtook who waits in front")
		}
		m.granted(l, v, g)
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
}

func (m *capacityModel) release() {
	if len(m.grants) == 0 {
		return
	}
	m.giveBack(m.grants[rapid.IntRange(0, len(m.grants)-1).Draw(m.T, "grant")])
}

func (m *capacityModel) giveBack(g *modelGrant) {
	g.Release()
	if g.back {
		return // again: nothing changed
	}
	g.back = true
	for _, l := range g.at.path() {
		for name, units := range g.need {
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
	l.limit[name], l.reserve[name] = limit, min(l.reserve[name], limit)
	if err := l.SetLimit(name, limit); err != nil {
		m.Fatal(err)
	}
}

func (m *capacityModel) hold() {
	l := m.drawLevel()
	name := rapid.SampledFrom([]string{"slots", "memory"}).Draw(m.T, "resource")
	reserve := rapid.Int64Range(0, l.limit[name]).Draw(m.T, "reserve")
	l.reserve[name] = reserve
	if err := l.Reserve(name, reserve); err != nil {
		m.Fatal(err)
	}
}

// No resource goes above what its limit leaves, what is granted is what is in use, a shrink
// is collected as work ends, who waits is served in order, and once no more passes, everybody is
// answered.
func TestCapacityModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newCapacityModel(t)
		t.Repeat(map[string]func(*rapid.T){
			"":       func(*rapid.T) { m.check() },
			"try":    func(*rapid.T) { m.try() },
			"claim":  func(*rapid.T) { m.claim() },
			"pass":   func(*rapid.T) { m.pass() },
			"cancel": func(*rapid.T) { m.cancel() },
			"back":   func(*rapid.T) { m.release() },
			"back2":  func(*rapid.T) { m.release() },
			"resize": func(*rapid.T) { m.resize() },
			"hold":   func(*rapid.T) { m.hold() },
		})
		for _, l := range m.levels {
			for name := range l.limit {
				l.reserve[name] = 0
				if err := l.Reserve(name, 0); err != nil {
					t.Fatal(err)
				}
				m.check()
			}
		}
		for i := 0; i < len(m.grants); i++ {
			m.giveBack(m.grants[i])
			m.check() // which appends those that were served
		}
		for _, l := range m.levels {
			if len(l.waiting) > 0 {
				t.Fatalf("%v was never answered", l.waiting[0].need)
			}
		}
	})
}
