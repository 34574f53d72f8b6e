package suites

import (
	"encoding/json"
	"flag"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/sim"
)

// TestRoundTrip checks that an encoded scenario parses to the same value, and that a seed
// always draws the same system.
func TestRoundTrip(t *testing.T) {
	all := All()
	for seed := range uint64(200) {
		for kind, draw := range Drawn {
			s := draw(seed)
			if !reflect.DeepEqual(s, draw(seed)) || !strings.HasPrefix(s.Name, kind) {
				t.Errorf("%s differs from itself", s.Name)
			}
			all = append(all, s)
		}
	}
	for _, s := range all {
		text := must.Have(json.Marshal(s))(t)
		again, err := sim.ParseScenario(s.Name, text)
		if err != nil || !reflect.DeepEqual(again, s) {
			t.Fatalf("%v\n%+v\n%+v\n%s", err, s, again, text)
		}
	}
}

func TestLookup(t *testing.T) {
	for _, s := range All() {
		if found, err := Lookup(s.Name); err != nil || !reflect.DeepEqual(found, s) || s.About == "" {
			t.Errorf("%s: %v", s.Name, err)
		}
	}
	for _, name := range []string{"random-7", "shared-8", Harm(9).Name} {
		if s, err := Lookup(name); err != nil || !strings.HasPrefix(s.Name, name) {
			t.Errorf("%s: %s, %v", name, s.Name, err)
		}
	}
	for name, want := range map[string]string{
		"nonsense": "want kata, det-1.5x,", "slow3": "did you mean slow30?", "harm-9-other": "unknown", "harm-x": "unknown",
	} {
		if _, err := Lookup(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

var calibrate = flag.Bool("calibrate", false,
	"score a fixed limit of 60 on the whole named suite, which takes half a minute")

// TestCalibration: an independent simulator scored a fixed limit of 60 on this suite with
// 87.3 in the mean and 6.5 at worst. Run it with
//
//	go test -run Calibration -calibrate -v ./internal/suites
func TestCalibration(t *testing.T) {
	if !*calibrate {
		t.Skip("without -calibrate")
	}
	sum, least := 0.0, 100.0
	for _, s := range Named() {
		oracle := must.Have(sim.Sweep(s, 1))(t)
		result := must.Have(sim.Run(s, law.Fixed{Limit: 60}, 1))(t)
		c := must.Have(oracle.Score(result))(t)
		t.Logf("%+v", c)
		sum, least = sum+c.Goodput, min(least, c.Goodput)
	}
	mean := sum / float64(len(Named()))
	if math.Abs(mean-87.3) > 3 || math.Abs(least-6.5) > 3 {
		t.Errorf("mean %.1f and least %.1f, want 87.3 and 6.5 give or take 3", mean, least)
	}
}
