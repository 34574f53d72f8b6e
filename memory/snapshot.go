package memory

import (
	"time"

	"github.com/weir-go/weir/internal/wire"
)

// A Snapshot is the state of a governor at one moment. Sizes are in bytes. Measurements of Run are
// 0 before it has.
type Snapshot struct {
	Target    uint64        // Config.Target, or its default
	Anonymous uint64        // resident memory that is of no file
	Resident  uint64        // resident memory, mapped files included
	Need      uint64        // memory that a collection of garbage would leave
	Limit     uint64        // the memory limit for the runtime
	Budget    uint64        // how much may be in flight
	InFlight  uint64        // how much is
	Kept      uint64        // how much is kept
	Waiting   int           // how many calls of Acquire wait
	Waited    time.Duration // how long calls of Acquire have waited, together
	PagedOut  uint64        // pages of mapped files that Linux was asked to take back, together
	Pressure  float64       // share of the last 10 s in which tasks waited for memory, 0 to 1; 0 where it is not known
	TooSmall  bool          // the target is below the needs of the store
	Least     uint64        // the least target that leaves room for work

	load float64
}

// Load is Need as a share of the need that leaves no room for work: at 1 and above the budget is
// at its least.
func (s Snapshot) Load() float64 { return s.load }

// Snapshot returns the state now. Reading changes nothing.
func (g *Governor) Snapshot() Snapshot {
	size, inFlight, waiting := g.budget.snapshot()
	_, kept, _ := g.kept.snapshot()
	g.mu.Lock()
	defer g.mu.Unlock()
	return Snapshot{
		Target: g.conf.Target, Anonymous: g.read.anonymous, Resident: g.read.resident,
		Need: g.last.need, Limit: uint64(g.last.limit), Budget: uint64(size), InFlight: uint64(inFlight), Kept: uint64(kept),
		Waiting: waiting, Waited: time.Duration(g.waited.Load()), PagedOut: g.took, Pressure: g.read.pressure,
		TooSmall: g.last.short, Least: g.last.least, load: g.last.load,
	}
}

// String returns the snapshot as JSON, which makes a Governor an expvar.Var.
func (g *Governor) String() string { return wire.String(g.Snapshot()) }
