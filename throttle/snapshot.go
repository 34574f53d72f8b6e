package throttle

import (
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/wire"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/pid"
)

// A Snapshot is the state of a throttle and its reasons, at one moment.
type Snapshot struct {
	Name          string              // Config.Name
	Off           bool                // Config.Off
	Running       bool                // whether Run is at work
	Reads, Writes SideSnapshot        // the two sides
	Feeds         []load.FeedSnapshot // the last answers of the monitor's feeds
}

// A SideSnapshot is one side of a [Snapshot]. Totals count since the throttle was made.
type SideSnapshot struct {
	Pace        Pace         // in force now; the zero Pace is none
	MaxInFlight int          // how much cost may run at once, as a [Concurrency] has it; 0 is no bound
	Load        float64      // the input of the laws
	Level       load.Level   // the monitor's part of it
	Latency     load.Reading // and the p95 against its target, not valid without a target
	Symptom     load.Reading // the worst that the operations themselves show
	Degraded    bool         // signals are missing: the symptoms count
	Emergency   bool         // see [Emergency]
	Emergencies uint64       // how often it began

	// PID has the terms of the PID law, or of the controller that replaces all
	// laws while the side is degraded; zero if there is none.
	PID pid.Snapshot

	Rate         float64       // cost admitted per second, over about a second
	Cost         uint64        // cost admitted
	Throttled    uint64        // operations that had to wait and then started: not who left or was refused, see Limiter
	ThrottleTime time.Duration // for how long those waited, together
	Limiter      weir.Snapshot // latencies, work in flight, the queue, who left, refusals by reason
}

// Snapshot returns the present state. Reading changes nothing.
func (t *Throttle) Snapshot() Snapshot {
	t.mu.Lock()
	defer t.mu.Unlock()
	snap := Snapshot{
		Name: t.conf.Name, Off: t.conf.Off, Running: t.running.Load(),
		Reads: t.sides[Read].snapshot(), Writes: t.sides[Write].snapshot(),
	}
	if t.conf.Monitor != nil {
		snap.Feeds = t.conf.Monitor.Snapshot()
	}
	return snap
}

// String returns the snapshot as JSON, which makes a Throttle an expvar.Var.
func (t *Throttle) String() string { return wire.String(t.Snapshot()) }
