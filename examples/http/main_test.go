package main

import (
	"testing"
	"testing/synctest"

	"github.com/weir-go/weir/examples/internal/crowd/crowdtest"
)

// The test checks the numbers of the package comment, in the time of a bubble.
func TestLimitKeepsRequestsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := crowdtest.Run(t, run)
		without, with := crowdtest.Figures(t, out, `second half, (\d+) of \d+ requests were answered in time without a limit, and (\d+) of`)
		if without > 50 || with < 400 {
			t.Errorf("in the second half %d were answered in time without a limit and %d with it, want next to none and most of 500:\n%s", without, with, out)
		}
	})
}
