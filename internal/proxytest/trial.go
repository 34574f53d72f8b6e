package proxytest

import (
	"fmt"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/weir-go/weir/internal/longtest"
)

// measure skips a trial that only prints figures, unless trials run at full length.
func measure(t *testing.T) {
	t.Helper()
	longtest.Skip(t)
	if !longtest.Full() {
		t.Skip("only measures: WEIR_TRIALS=full runs it")
	}
}

// trial skips a test that takes seconds unless long tests are enabled. A short trial measures
// nothing, so it runs in parallel.
func trial(t *testing.T) {
	t.Helper()
	longtest.Skip(t)
	if !longtest.Full() {
		t.Parallel()
	}
}

// either returns the first value in a full trial and the second in a short one.
func either[T any](long, short T) T {
	if longtest.Full() {
		return long
	}
	return short
}

// A table is printed when its trial ends.
type table struct {
	text strings.Builder
	w    *tabwriter.Writer
}

// newTable begins a table, which is printed when the test ends.
func newTable(t testing.TB, title string, columns ...any) *table {
	tb := new(table)
	tb.w = tabwriter.NewWriter(&tb.text, 0, 0, 2, ' ', 0)
	tb.row(columns...)
	t.Cleanup(func() {
		tb.w.Flush()
		fmt.Printf("\n%s\n%s", title, tb.text.String())
	})
	return tb
}

func (tb *table) row(cells ...any) {
	for i, cell := range cells {
		if i > 0 {
			fmt.Fprint(tb.w, "\t")
		}
		switch cell := cell.(type) {
		case float64:
			fmt.Fprintf(tb.w, "%.4g", cell)
		case time.Duration:
			fmt.Fprint(tb.w, cell.Round(10*time.Microsecond))
		default:
			fmt.Fprint(tb.w, cell)
		}
	}
	fmt.Fprintln(tb.w)
}

// pause sleeps: trials run real processes.
func pause(d time.Duration) { time.Sleep(d) }
