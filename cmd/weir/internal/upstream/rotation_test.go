package upstream

import (
	"errors"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/cmd/weir/internal/config"
)

// A patient is an address in the model: when it became sick, and until when it is; zero means
// until it is healed.
type patient struct {
	sick         bool
	since, until int
}

// inRotation is the model: all addresses except the sick ones, at most half of all, that became
// sick last.
func inRotation(patients []patient, now int) (in []int) {
	left, out := len(patients)/2, map[int]bool{}
	for range left {
		last := -1
		for i, p := range patients {
			if sick := p.sick || now < p.until; sick && !out[i] && (last < 0 || p.since > patients[last].since) {
				last = i
			}
		}
		if last >= 0 {
			out[last] = true
		}
	}
	for i := range patients {
		if !out[i] {
			in = append(in, i)
		}
	}
	return in
}

var (
	healthOfOne = config.Health{Failures: 1, Passes: 1}
	ejectOfOne  = config.Eject{Failures: 1, For: config.Duration(10 * time.Second)}
)

func TestRotationIsThatOfTheModel(t *testing.T) {
	for seed := range uint64(300) {
		synctest.Test(t, func(t *testing.T) {
			draw := rand.New(rand.NewPCG(seed, 0))
			n := 1 + draw.IntN(8)
			p, _ := fakes(t, n)
			patients := make([]patient, n)
			p.config.Health.Path = "/"
			for now := 1; now < 60; now++ {
				time.Sleep(time.Second)
				i := draw.IntN(n)
				r, sickness := p.addresses[i].record, &patients[i]
				switch draw.IntN(4) {
				case 0: // a check finds it unhealthy
					if !sickness.sick {
						sickness.sick, sickness.since = true, now
						r.check(http.ErrServerClosed, healthOfOne, time.Now())
					}
				case 1: // or healthy
					if sickness.sick {
						sickness.sick = false
						r.check(nil, healthOfOne, time.Now())
					}
				case 2: // it is ejected
					if now >= sickness.until {
						sickness.since, sickness.until = now, now+10
						r.fail("down", r.ejections.Load(), ejectOfOne, time.Now())
					}
				}
				var got []int
				for _, a := range p.rotation() {
					got = append(got, slices.Index(p.addresses, a))
				}
				if want := inRotation(patients, now); !slices.Equal(got, want) {
					t.Fatalf("seed %d, second %d: rotation %v, want %v; patients %+v", seed, now, got, want, patients)
				}
				if len(got) < (n+1)/2 {
					t.Fatalf("%d of %d in rotation", len(got), n)
				}
				if chosen := p.choose(nil); !slices.Contains(got, slices.Index(p.addresses, chosen)) {
					t.Fatal("chose an address that is out of rotation")
				}
			}
		})
	}
}

// fakes returns a pool of n addresses that never answer.
func fakes(t testing.TB, n int) (*Pool, *journal) {
	t.Helper()
	c := defaults()
	for i := range n {
		c.Addresses = append(c.Addresses, "http://server"+strconv.Itoa(i))
	}
	return newPool(t, c, nil)
}

// The busiest of all is never chosen, and the idlest whenever it is one of the two.
func TestOfTwoTheLessBusyIsChosen(t *testing.T) {
	const draws = 2000
	for n := 2; n < 6; n++ {
		p, _ := fakes(t, n)
		chosen := map[*address]int{}
		busiest, idlest := p.addresses[0], p.addresses[n-1]
		for _, a := range p.addresses {
			a.inFlight.Store(1)
		}
		busiest.inFlight.Store(2)
		idlest.inFlight.Store(0)
		for range draws {
			chosen[p.choose(nil)]++
		}
		if share := float64(chosen[idlest]) / draws; chosen[busiest] > 0 || share < 1.5/float64(n) {
			t.Errorf("of %d addresses the busiest was chosen %d times, and the idlest in %.2f of all, want never and about %.2f", n, chosen[busiest], share, 2/float64(n))
		}
	}
}

func TestEquallyBusyAddressesGetAsMuch(t *testing.T) {
	for _, n := range []int{1, 2, 3, 5} {
		p, _ := fakes(t, n)
		chosen := map[*address]int{}
		const each = 2000
		for range each * n {
			chosen[p.choose(nil)]++
		}
		for a, times := range chosen {
			if times < each*8/10 || times > each*12/10 {
				t.Errorf("%d addresses: %s was chosen %d times, want about %d", n, a.text, times, each)
			}
		}
		if len(chosen) != n {
			t.Errorf("%d addresses: only %d were chosen", n, len(chosen))
		}
	}
}

func TestTriedAddressesAreNotChosenAgain(t *testing.T) {
	p, _ := fakes(t, 4)
	a := p.addresses
	a[3].fail("down", 0, ejectOfOne, time.Now())
	for range 100 {
		if got := p.choose(a[:2]); got != a[2] {
			t.Fatalf("chose %s, want the only one that is left in rotation", got.text)
		}
	}
	if got := p.choose(a[:3]); got != a[3] {
		t.Error("did not choose the one that is left, out of rotation")
	}
	if p.choose(a) != nil {
		t.Error("chose one of which all were tried")
	}
}

func TestTheLogSaysWhichAddressesGetNoRequests(t *testing.T) {
	const ejected = "address of upstream is ejected"
	const stays = "address of upstream fails, and still gets requests: at most half are ejected"
	for addresses, want := range map[int]string{1: stays, 2: ejected} {
		p, j := fakes(t, addresses)
		for range 5 {
			p.fail(p.addresses[0], "down", 0)
		}
		if log := j.String(); j.count(want) != 1 || strings.Count(log, "\n") != 1 {
			t.Errorf("of %d addresses one fails: %s, want one line: %s", addresses, log, want)
		}
	}
}

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func TestFailuresInARowEject(t *testing.T) {
	r, eject := new(record), config.Eject{Failures: 3, For: config.Duration(10 * time.Second)}
	fail := func(now time.Time) bool { return r.fail("down", r.ejections.Load(), eject, now) }
	fail(noon)
	fail(noon)
	r.succeed(0)
	for range 2 {
		if fail(noon) {
			t.Error("ejected by failures that were not in a row")
		}
	}
	if !fail(noon) {
		t.Error("not ejected by 3 failures in a row")
	}
	if sick, _ := r.sick(false, noon.Add(10*time.Second-1)); !sick {
		t.Error("back before the end of its ejection")
	}
	if fail(noon.Add(5 * time.Second)) {
		t.Error("the ejection was made longer")
	}
	back := noon.Add(10 * time.Second)
	if sick, _ := r.sick(false, back); sick {
		t.Error("still ejected after its time")
	}
	if !fail(back) {
		t.Error("back, it was not ejected by the next failure")
	}
	again := back.Add(10 * time.Second)
	r.succeed(r.ejections.Load())
	if fail(again) {
		t.Error("back, it was ejected by one failure after a success")
	}
}

func TestFailuresOfRequestsFromBeforeAnEjectionEjectNoMore(t *testing.T) {
	r, eject := new(record), config.Eject{Failures: 2, For: config.Duration(10 * time.Second)}
	for range 2 {
		r.fail("down", 0, eject, noon)
	}
	later := noon.Add(time.Minute)
	for range 10 {
		if r.fail("timed out", 0, eject, later) {
			t.Fatal("ejected again by a request that began before the first ejection")
		}
	}
	if r.failures.Load() != 12 {
		t.Errorf("%d failures counted, want 12", r.failures.Load())
	}
	r.succeed(0)
	if !r.fail("down", 1, eject, later) {
		t.Error("a success from before the ejection was taken for one since")
	}
}

func TestNothingIsEjectedIfThatIsOff(t *testing.T) {
	r := new(record)
	for range 100 {
		if r.fail("down", 0, config.Eject{}, noon) {
			t.Fatal("ejected")
		}
	}
}

func TestChecksInARowChangeHealth(t *testing.T) {
	r, health, down := new(record), config.Health{Failures: 3, Passes: 2}, errors.New("down")
	for i, step := range []struct {
		err     error
		changed bool
		sick    bool
	}{
		{down, false, false},
		{down, false, false},
		{nil, false, false}, // not in a row
		{down, false, false},
		{down, false, false},
		{down, true, true},
		{down, false, true},
		{nil, false, true},
		{down, false, true},
		{nil, false, true},
		{nil, true, false},
		{nil, false, false},
	} {
		changed := r.check(step.err, health, noon)
		if sick, _ := r.sick(true, noon); changed != step.changed || sick != step.sick {
			t.Fatalf("check %d (%v): changed %t, sick %t; want %t, %t", i, step.err, changed, sick, step.changed, step.sick)
		}
	}
	for range 3 {
		r.check(down, health, noon)
	}
	if sick, _ := r.sick(false, noon); sick {
		t.Error("sick by checks that are switched off")
	}
}

func TestAShorterIntervalHoldsAtOnce(t *testing.T) {
	r := new(record)
	for r.checkIn(time.Hour, noon) < time.Minute {
		r.forgetHealth()
	}
	if wait := r.checkIn(time.Second, noon); wait > time.Second {
		t.Errorf("the next check is in %v, at an interval of 1 s", wait)
	}
}
