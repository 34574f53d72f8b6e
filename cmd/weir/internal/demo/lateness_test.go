package demo

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestABusyMachineSaysSo: a load that is held up is late, and one that is not is not.
func TestABusyMachineSaysSo(t *testing.T) {
	for held, want := range map[time.Duration]string{
		0:                      "",
		100 * time.Millisecond: "This machine was too busy for these figures: timers were 100ms late, not below 2.5ms.\n",
	} {
		synctest.Test(t, func(t *testing.T) {
			l := newLoad("http://127.0.0.1:0", manner{deadline, patience, 1, func(time.Duration) int { return 0 }})
			start := time.Now().Add(-held)
			l.drive(t.Context(), start, []time.Duration{0, 0, 0})
			var out strings.Builder
			printer{&out, false}.reserve(together(l, newLoad("", manner{})))
			if out.String() != want {
				t.Errorf("held up for %v: %q, want %q", held, &out, want)
			}
		})
	}
	var out strings.Builder
	printer{&out, false}.reserve(lateness{sum: 100 * tooLate, count: 100})
	if out.Len() > 0 {
		t.Errorf("at the bound: %s", &out)
	}
}
