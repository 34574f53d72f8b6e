package memory

import "time"

const (
	period = 50 * time.Millisecond // from one decision to the next

	limitShare  = 0.9      // of the target for the runtime; with 0.95 anonymous memory went above the target
	budgetShare = 64       // the budget is the target divided by it
	leastBudget = 64 << 10 // bytes

	leastRoom = 0.10 // at which the budget is least
	fullRoom  = 0.35 // from which it is whole

	collectEvery = time.Second // at the least budget

	// The target is said to be too small after so long without room, less a quarter of the time with room in between. Of a
	// store that needs too much the need swings, as it compacts.
	patience = 5 * time.Second
	relief   = 4

	adviseAbove = 0.92 // of the target, resident
	adviseEvery = time.Second
	pressed     = 0.10 // share of time in which tasks wait for memory: the machine is short of it
)

// A reading is what is known of the process at one moment. Sizes are in bytes.
type reading struct {
	at        time.Duration // since any moment
	anonymous uint64        // resident memory that is of no file
	resident  uint64        // all resident memory
	runtime   uint64        // what the Go runtime has and did not return
	live      uint64        // live heap after the last collection
	fixed     uint64        // stacks and metadata of the runtime
	collected uint64        // collections so far
	inFlight  int64         // what was taken of the budget
	pressure  float64       // share of time in which tasks wait for memory
}

// A decision is what follows from a reading.
type decision struct {
	limit   int64  // for the runtime
	budget  int64  // bytes in flight
	need    uint64 // what a collection would leave
	collect bool   // collect garbage
	advise  bool   // have the kernel take back the pages of mapped files
	short   bool   // the target is too small
	least   uint64 // the least target that leaves room
}

// control decides. It is told all that it knows.
type control struct {
	target uint64

	collections  uint64
	lastCollect  time.Duration
	lastAdvise   time.Duration
	adviseFailed bool // the last advice did not bring resident memory below the mark

	stale   uint64        // collections when more was in flight, or there was room
	cramped time.Duration // without room, less a share of the time with room
	short   bool          // the target is too small
	least   uint64        // the most that was needed since there was room for long
}

func (c *control) step(r reading) decision {
	if r.collected != c.collections {
		c.collections, c.lastCollect = r.collected, r.at
	}
	var offHeap uint64
	if r.anonymous > r.runtime {
		offHeap = r.anonymous - r.runtime
	}
	limit := max(limitShare*float64(c.target)-float64(offHeap), 0)
	d := decision{limit: int64(limit), need: r.live + r.fixed}
	room := 0.0
	if limit > 0 {
		room = 1 - float64(d.need)/limit
	}
	share := min(max((room-leastRoom)/(fullRoom-leastRoom), 0), 1)
	d.budget = max(int64(float64(c.target)/budgetShare*share), leastBudget)
	atFloor := room <= leastRoom
	if d.collect = atFloor && r.at-c.lastCollect >= collectEvery; d.collect {
		c.lastCollect = r.at
	}
	c.judge(r, atFloor, uint64((float64(d.need)/(1-leastRoom)+float64(offHeap))/limitShare))
	d.short, d.least = c.short, c.least
	d.advise = c.advise(r)
	return d
}

// judge notes whether the target leaves no room, though hardly anything is in flight; or is exceeded, though no more than the whole
// budget is in flight.
func (c *control) judge(r reading, atFloor bool, least uint64) {
	whole := max(int64(c.target/budgetShare), leastBudget)
	little := atFloor && r.inFlight <= leastBudget
	if !little {
		c.stale = r.collected
	}
	idle := little && r.collected > c.stale // the need of a collection before that may be that of work which was in flight
	exceeded := r.anonymous > c.target && r.inFlight <= whole
	if idle || exceeded {
		c.cramped = min(c.cramped+period, patience)
		c.least = max(c.least, least, r.anonymous)
	} else {
		c.cramped -= period / relief
	}
	if c.cramped >= patience {
		c.short = true
	}
	if c.cramped <= 0 {
		c.cramped, c.short, c.least = 0, false, least
	}
}

// advise is at most once a second for as long as it does not help.
func (c *control) advise(r reading) bool {
	above := float64(r.resident) > adviseAbove*float64(c.target)
	if !above && r.pressure < pressed {
		c.adviseFailed = false
		return false
	}
	if c.adviseFailed && r.at-c.lastAdvise < adviseEvery {
		return false
	}
	c.adviseFailed, c.lastAdvise = true, r.at
	return true
}
