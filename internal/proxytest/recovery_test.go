package proxytest

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"
)

// TestRecovery prints the goodput before, during and after a time in which the upstream runs
// at 30% of its speed, under one and a half times the load that it does at full speed.
func TestRecovery(t *testing.T) {
	trial(t)
	const slow = 0.3
	// A tick of the default law, of which there is one in 4 s, belongs to what settles.
	phase, settled, seeds := either(15*time.Second, 7*time.Second), 5*time.Second, either(8, 1)
	u := tenWorkers
	tb := newTable(t, fmt.Sprintf("goodput within %v as a share of the capacity then, at %.0f requests a second, medians of %d and the least; phases of %v without their first %v",
		deadline, 1.5*u.capacity(), seeds, phase, settled),
		"guard", "full speed", "30%", "full speed again", "the least")
	for _, g := range []guard{byDefault, byHand(u, 1)} {
		var before, during, after []float64
		for seed := range seeds {
			t.Run("", func(t *testing.T) { // so that its processes end
				up := startUpstream(t, u)
				p := g.start(t, up)
				load := openLoop{
					rate: 1.5 * u.capacity(), during: 3 * phase, timeout: deadline, seed: uint64(seed), request: gets(t, p.url+"/work"),
				}
				var answers []answer
				var loop sync.WaitGroup
				loop.Go(func() { answers = load.run(t.Context()) })
				pause(phase)
				up.setSpeed(t, slow)
				pause(phase)
				up.setSpeed(t, 1)
				loop.Wait()
				share := func(n int, speed float64) float64 {
					from := time.Duration(n)*phase + settled
					return float64(good(answers, from, time.Duration(n+1)*phase)) / (phase - settled).Seconds() / u.capacity() / speed
				}
				before, during, after = append(before, share(0, 1)), append(during, share(1, slow)), append(after, share(2, 1))
			})
		}
		tb.row(g.name, median(before), median(during), median(after), fmt.Sprintf("%.2f, %.2f, %.2f", minimum(before), minimum(during), minimum(after)))
		if least := minimum(after); g.name == byDefault.name && !full() && least < 0.6 {
			t.Errorf("%.2f of the capacity is done in time after the fault, want most of it", least)
		}
	}
}

// setSpeed changes the speed of an upstream's work.
func (p peer) setSpeed(t testing.TB, speed float64) {
	t.Helper()
	if status, text := get(t, fmt.Sprintf("%s/-/speed?of=%g", p.url, speed)); status != http.StatusOK {
		t.Fatalf("/-/speed: status %d: %s", status, text)
	}
}
