package check

import (
	"math"
	"slices"
	"time"
)

// longestWork is that of the simulated work, and the grace of the fleet.
const longestWork = 8 * time.Second

// work ends the work whose time is over and starts as much as the share allows.
func (m *fleetMember) work() {
	m.end()
	for len(m.ends) < min(m.share, m.need) {
		long := 200 * time.Millisecond * time.Duration(math.Pow(40, m.w.Float64()))
		ends := m.w.now + min(long, longestWork)
		place, _ := slices.BinarySearch(m.ends, ends)
		m.ends = slices.Insert(m.ends, place, ends)
	}
	m.count()
}

// end ends the work whose time is over.
func (m *fleetMember) end() {
	over, _ := slices.BinarySearch(m.ends, m.w.now+1)
	m.ends = slices.Delete(m.ends, 0, over)
}

// takes is the slots that the member adds to those of the world now.
func (m *fleetMember) takes() (more int) {
	before := m.counts
	m.counts = max(m.share, len(m.ends))
	return m.counts - before
}

// count updates the slots that the member takes in the world. Work whose end came since the last
// step counts until the next one, except where that would be above the cap.
func (m *fleetMember) count() {
	m.w.slots += m.takes()
	if m.w.slots > m.w.conf.Cap {
		m.w.settle()
	}
}

// settle ends all work whose time is over, and notes whether the cap is still passed.
func (w *fleetWorld) settle() {
	for _, m := range w.alive {
		m.end()
		w.slots += m.takes()
	}
	w.worst = max(w.worst, w.slots-w.conf.Cap)
}

// demand gives a member a new need now and then: mostly below an equal part of the cap, sometimes
// many times that.
func (m *fleetMember) demand() {
	if m.dead {
		return
	}
	m.w.after(m.w.between(3*time.Second, 20*time.Second), m.demand)
	if m.w.steady {
		return
	}
	equal := float64(m.w.conf.Cap) / float64(len(m.w.alive))
	m.need = int(m.w.ExpFloat64() * 0.6 * equal)
	if m.w.IntN(8) == 0 {
		m.need = int(equal * (2 + 10*m.w.Float64()))
	}
}

// use adds up how much runs, and how much could.
func (w *fleetWorld) use() {
	running, need := 0, 0
	for _, m := range w.alive {
		running += len(m.ends)
		need += m.need
	}
	w.used += float64(running)
	w.useful += float64(min(need, w.conf.Cap))
	w.after(time.Second, w.use)
}

// faults lets something go wrong every few seconds.
func (w *fleetWorld) faults() {
	m := w.alive[w.IntN(len(w.alive))]
	leader := w.leader(m)
	switch w.IntN(9) {
	case 0, 1:
		w.cutOff(m)
	case 2:
		w.cutOff(leader)
	case 3:
		leader.leave(false)
		w.replace()
	case 4:
		m.leave(false)
		w.replace()
	case 5:
		m.leave(true)
		w.replace()
	case 6:
		w.goBack(w.between(0, 5*time.Second))
	case 7: // the allocator is cut off, and dies as the store goes back
		w.cutOff(m)
		w.goBack(5 * time.Second)
		leader.leave(false)
		w.replace()
	case 8:
		leader.stop(w.between(time.Second, 30*time.Second))
	}
	w.after(w.between(3*time.Second, 40*time.Second), w.faults)
}

// leader returns the allocator, or the other member if there is none.
func (w *fleetWorld) leader(other *fleetMember) *fleetMember {
	for _, m := range w.alive {
		if m.node.Leads() {
			other = m
		}
	}
	return other
}

// jumps sets a clock an hour forward every few seconds, that of the allocator each other time.
func (w *fleetWorld) jumps() {
	m := w.alive[w.IntN(len(w.alive))]
	if w.IntN(2) == 0 {
		m = w.leader(m)
	}
	m.offset += time.Hour
	w.after(w.between(5*time.Second, 30*time.Second), w.jumps)
}

// cutOff keeps a member and the store apart for a while.
func (w *fleetWorld) cutOff(m *fleetMember) {
	m.cut = true
	w.after(w.between(5*time.Second, 35*time.Second), func() {
		if m.cut = false; !m.dead {
			m.resync(w.store.keys())
		}
	})
}

// stop stops a process for a while. It starts nothing meanwhile, so it counts with its running
// work.
func (m *fleetMember) stop(d time.Duration) {
	m.paused, m.share = true, 0
	m.count()
	m.w.after(d, func() {
		if m.paused = false; !m.dead {
			m.step()
		}
	})
}

func (w *fleetWorld) replace() {
	w.after(w.between(time.Second, 5*time.Second), func() { w.join().demand() })
}
