package proxytest

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

// TestRecovery prints the goodput before, during and after a time in which the upstream runs
// at 30% of its speed, under one and a half times the load that it does at full speed.
func TestRecovery(t *testing.T) {
	trial(t)
	const slow = 0.3
	phase, settled, seeds := either(15*time.Second, 3*time.Second), either(5*time.Second, 2*time.Second), either(8, 1)
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
				defer time.AfterFunc(phase, func() { setSpeed(t, up, slow) }).Stop()
				defer time.AfterFunc(2*phase, func() { setSpeed(t, up, 1) }).Stop()
				answers := openLoop{
					rate: 1.5 * u.capacity(), during: 3 * phase, timeout: deadline, seed: uint64(seed), request: gets(t, p.url+"/work"),
				}.run(t.Context())
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
func setSpeed(t testing.TB, up peer, speed float64) {
	answer, err := http.Get(fmt.Sprintf("%s/-/speed?of=%g", up.url, speed))
	if err != nil {
		t.Error(err)
		return
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Errorf("/-/speed: status %d", answer.StatusCode)
	}
}
