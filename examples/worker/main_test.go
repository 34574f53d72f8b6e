package main

import (
	"testing"
	"testing/synctest"

	"github.com/weir-go/weir/examples/internal/crowd/crowdtest"
)

// The test checks the numbers of the package comment, in the time of a bubble.
func TestPoolFindsItsSize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := crowdtest.Run(t, run)
		all, sized := crowdtest.Figures(t, out, `second half, (\d+) mails were sent with all workers, and (\d+) by`)
		if sized < 4*all {
			t.Errorf("in the second half %d were sent with all workers and %d by the pool, want four times as many:\n%s", all, sized, out)
		}
	})
}
