package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir/examples/internal/crowd"
	"github.com/weir-go/weir/internal/longtest"
	"github.com/weir-go/weir/internal/must"
)

// The store works in real time, and its speed varies: the test only checks that both storms
// write.
func TestWritersWrite(t *testing.T) {
	longtest.Skip(t)
	var out bytes.Buffer
	must.Do(t, run(t.Context(), crowd.Show{Out: &out, Each: 2 * time.Second}))
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	var loose, stall, paced, slowest int
	if _, err := fmt.Sscanf(lines[len(lines)-1], "In the second half, %d writes ended and the slowest took %d ms without a throttle, and %d and %d ms with it.", &loose, &stall, &paced, &slowest); err != nil || loose == 0 || paced == 0 || stall == 0 || slowest == 0 {
		t.Errorf("%v: want writes of both storms in the last line of\n%s", err, &out)
	}
}
