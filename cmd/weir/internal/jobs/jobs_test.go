package jobs

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/weir-go/weir/internal/must"
)

const want = `24 jobs of 80ms to 300ms over 6 slots, 3 at first; one more above a backlog of 10, one less below 4.

[ctrl] backlog=24 completed=0 effective=3
[ctrl] scale-up -> effective=4 (backlog 24 above 10)
[ctrl] backlog=17 completed=3 effective=4
[ctrl] scale-up -> effective=5 (backlog 17 above 10)
[ctrl] backlog=11 completed=8 effective=5
[ctrl] scale-up -> effective=6 (backlog 11 above 10)
[ctrl] backlog=6 completed=12 effective=6
[ctrl] backlog=0 completed=19 effective=6
[ctrl] scale-down -> effective=5 (backlog 0 below 4)
[ctrl] backlog=0 completed=23 effective=5
[ctrl] scale-down -> effective=4 (backlog 0 below 4)
[done] completed=24 finalAvailable=6

size         ended   slots held  of these, unused
adaptive    1.04 s       5.38 s            0.64 s
6, best     0.94 s       5.63 s            0.90 s
3, wrong    1.73 s       5.19 s            0.46 s
2, wrong    2.47 s       4.93 s            0.20 s
`

func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		must.Do(t, Run(t.Context(), &out))
		if out.String() != want {
			t.Errorf("got\n%s\nwant\n%s", &out, want)
		}
	})
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Run(ctx, &strings.Builder{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
