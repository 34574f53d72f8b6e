package exchange

import (
	"maps"
	"sync/atomic"

	"github.com/weir-go/weir"
)

// Counts are the results of requests since the start. Each received request that has ended
// was answered or refused, or its client left, or its response was broken off.
type Counts struct {
	Received uint64            `json:"received"` // by a route
	Answered map[string]uint64 `json:"answered"` // by class of status, "2xx"; includes the proxy's own answers, such as a 502
	Refused  map[string]uint64 `json:"refused"`  // by reason; they did not reach the upstream
	Left     uint64            `json:"left"`     // by clients, before they had an answer
	Broken   uint64            `json:"broken"`   // the upstream failed within its response, or the response got no slot after its header

	Streamed  uint64 `json:"streamed"`  // requests that were streams when they began
	Exchanged uint64 `json:"exchanged"` // responses that became streams
	NoStream  uint64 `json:"no_stream"` // responses and requests that got no stream slot
	TimedOut  uint64 `json:"timed_out"` // requests whose upstream took too long
	Memory    int64  `json:"memory"`    // bytes in buffers now
	Files     int64  `json:"files"`     // temporary files now
	Stored    int64  `json:"stored"`    // bytes in temporary files now
}

type counters struct {
	received, left, broken, streamed, exchanged, noStream, timedOut atomic.Uint64

	answered [6]atomic.Uint64 // by status/100
	refused  [32]atomic.Uint64
	files    atomic.Int64
}

// Counts returns the counts since the start, and the memory and the files that are in use now.
func (s *Shared) Counts() Counts {
	c := &s.counts
	counts := Counts{
		Answered: map[string]uint64{}, Refused: map[string]uint64{},
		Left: c.left.Load(), Broken: c.broken.Load(), Streamed: c.streamed.Load(), Exchanged: c.exchanged.Load(),
		NoStream: c.noStream.Load(), TimedOut: c.timedOut.Load(), Memory: s.memory.used.Load(), Files: c.files.Load(), Stored: s.stored.Used(),
	}
	for class := range c.answered {
		if n := c.answered[class].Load(); n > 0 {
			counts.Answered[string(rune('0'+class))+"xx"] = n
		}
	}
	for _, reason := range weir.Reasons() {
		if n := c.refused[reason].Load(); n > 0 {
			counts.Refused[reason.String()] = n
		}
	}
	counts.Received = c.received.Load() // last, so that it is not below their sum
	return counts
}

// Ended returns the number of requests that have ended.
func (c Counts) Ended() uint64 {
	sum := c.Left + c.Broken
	for _, by := range []map[string]uint64{c.Answered, c.Refused} {
		for n := range maps.Values(by) {
			sum += n
		}
	}
	return sum
}
