package memory

import "time"

const (
	period = 50 * time.Millisecond // from one decision to the next

	limitShare  = 0.9      // of the target, for the runtime; with 0.95 anonymous memory went above it
	budgetShare = 64       // the budget is the target divided by it
	leastBudget = 64 << 10 // bytes
	keptShare   = 8        // kept bytes are at most the target divided by it: a store sized to the target, an import and as many clients take three quarters

	leastRoom = 0.10 // up to which the budget is least
	fullRoom  = 0.35 // from which the budget is whole

	// This is the part of the target that garbage leaves to the pages of mapped files. Without it
	// they had 20 MiB of 256, which a store on a quiet machine writes in 50 ms.
	filesShare = 0.15
	// This is the part of the memory limit that garbage has in any case. Where the store needed
	// more than the limit, and garbage had none, there were 1,000 collections a second, and they
	// took a third of the processors.
	garbageShare = 0.05

	collectEvery = time.Second // the time between collections at the least budget

	// The target is said to be too small after so long without room. Time in which the need is
	// above the target counts threefold. Time with room takes off a sixth of itself, because the
	// need of a store swings as it compacts.
	patience  = 3 * time.Second
	exceeding = 3
	relief    = 6

	longestStep = time.Second // that counts: a stopped process is not without room meanwhile
)

// A reading is the state of the process at one moment. Sizes are in bytes.
type reading struct {
	at        time.Duration // since any moment
	anonymous uint64        // resident memory that is of no file
	resident  uint64        // all resident memory
	runtime   uint64        // memory that the Go runtime has and did not return
	live      uint64        // live heap after the last collection
	fixed     uint64        // stacks and metadata of the runtime
	collected uint64        // collections so far
	inFlight  int64         // bytes taken of the budget
}

type decision struct {
	limit   int64   // the memory limit for the runtime
	budget  int64   // bytes in flight
	keep    int64   // bytes that are kept
	need    uint64  // memory that a collection would leave
	load    float64 // need as a share of the need that leaves no room
	collect bool    // collect garbage
	short   bool    // the target is too small
	least   uint64  // the least target that leaves room
}

// control decides from readings alone: it reads no clock and no memory.
type control struct {
	target uint64
	files  bool // there are mapped files

	collections uint64
	lastCollect time.Duration

	judged  time.Duration // the time of the last call of judge
	stale   uint64        // collections when more bytes were in flight, or there was room
	cramped time.Duration // without room, less a share of the time with room
	short   bool          // the target is too small
	least   uint64        // the largest least target since there was room for long
}

func (c *control) step(r reading) decision {
	if r.collected != c.collections {
		c.collections, c.lastCollect = r.collected, r.at
	}
	var offHeap uint64
	if r.anonymous > r.runtime {
		offHeap = r.anonymous - r.runtime
	}
	whole := max(limitShare*float64(c.target)-float64(offHeap), 0) // the runtime's part
	d := decision{need: r.live + r.fixed}
	d.limit = int64(c.limit(whole, float64(d.need)))
	room := 0.0
	if whole > 0 {
		room = 1 - float64(d.need)/whole
	}
	d.load = (1 - room) / (1 - leastRoom)
	share := min(max((room-leastRoom)/(fullRoom-leastRoom), 0), 1)
	d.budget = max(int64(float64(c.target)/budgetShare*share), leastBudget)
	atFloor := room <= leastRoom
	if !atFloor {
		d.keep = int64(c.target / keptShare)
	}
	if d.collect = atFloor && r.at-c.lastCollect >= collectEvery; d.collect {
		c.lastCollect = r.at
	}
	c.judge(r, atFloor, d.need+offHeap, uint64((float64(d.need)/(1-leastRoom)+float64(offHeap))/limitShare))
	d.short, d.least = c.short, c.least
	return d
}

// limit returns the memory limit for the runtime. Garbage makes room for mapped files, as long as
// the room that a whole budget needs remains.
func (c *control) limit(whole, need float64) float64 {
	limit := whole
	if c.files {
		limit = max(whole-filesShare*float64(c.target), min(whole, need/(1-fullRoom)))
	}
	return max(limit, need/(1-garbageShare))
}

// judge notes whether the target leaves no room, though hardly any bytes are in flight. It also
// notes whether the target is exceeded, though no more than the whole budget is in flight.
func (c *control) judge(r reading, atFloor bool, need, least uint64) {
	during := min(r.at-c.judged, longestStep)
	c.judged = r.at
	whole := max(int64(c.target/budgetShare), leastBudget)
	little := atFloor && r.inFlight <= leastBudget
	if !little {
		c.stale = r.collected
	}
	idle := little && r.collected > c.stale // the need of a collection before that may be that of work which was in flight
	exceeded := r.anonymous > c.target && r.inFlight <= whole
	if !idle && !exceeded {
		c.cramped -= during / relief
	} else {
		if exceeded || need > c.target {
			during *= exceeding
		}
		c.cramped = min(c.cramped+during, patience)
		c.least = max(c.least, least, r.anonymous)
	}
	if c.cramped >= patience {
		c.short = true
	}
	if c.cramped <= 0 {
		c.cramped, c.short, c.least = 0, false, least
	}
}
