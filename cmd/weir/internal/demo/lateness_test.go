package demo

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestABusyMachineSaysSo: only a load that is held up is late.
func TestABusyMachineSaysSo(t *testing.T) {
	for held, want := range map[time.Duration]string{
		0:                      "",
		100 * time.Millisecond: "This machine was too busy to trust this: timers 100ms late, bound 2.5ms.",
	} {
		synctest.Test(t, func(t *testing.T) {
			l := newLoad("http://127.0.0.1:0", manner{"", deadline, patience, 1, func(time.Duration) int { return 0 }})
			start := time.Now().Add(-held)
			l.drive(t.Context(), start, []time.Duration{0, 0, 0})
			if got := (&contest{entrants: []*entrant{{loads: []*load{l, newLoad("", manner{})}}}}).lateness().reserve(); got != want {
				t.Errorf("held up for %v: %q, want %q", held, got, want)
			}
		})
	}
	if got := (lateness{sum: 100 * tooLate, count: 100}).reserve(); got != "" {
		t.Errorf("at the bound: %s", got)
	}
}
