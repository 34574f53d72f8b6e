package admit_test

import (
	"testing"

	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/window"
)

// The records that a node keeps after a burst are bounded.
func TestKeepsFewRecords(t *testing.T) {
	const burst, most = 100, 64
	r := newRig(t, burst, nil)
	first := map[*reply.Record]bool{}
	var tickets []*reply.Ticket
	for range burst {
		tickets = append(tickets, r.must(1))
		first[tickets[len(tickets)-1].Record] = true
	}
	for _, ticket := range tickets {
		r.done(ticket, window.Success)
	}
	again := 0
	for range burst {
		if first[r.must(1).Record] {
			again++
		}
	}
	if again != most {
		t.Errorf("%d records were used again: want %d", again, most)
	}
}
