package storm

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/internal/storm"
)

// TestCrowdCountsWhatEnds checks that an operation that began in the warm-up counts if it
// ends in the storm, and that one that outlasts the storm does not. A throttle lets nothing
// wait beyond the end, so the opposite rule would lose an operation for each client.
func TestCrowdCountsWhatEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		c := &crowd{clients: 3, gate: storm.Open, work: func(context.Context, int) error {
			time.Sleep(4 * time.Second) // ends at 4, 8 and 12
			return nil
		}}
		c.run(ctx, time.Now().Add(2*time.Second))
		if done, _ := c.log.count(); done != 2*3 {
			t.Errorf("%d operations counted, want 2 of each of 3 clients", done)
		}
	})
}
