package knee

import (
	"math"
	"testing"
)

func TestChangeKeepsWhatTheSameServerKeeps(t *testing.T) {
	f, b := learned(func(n float64) float64 { return 1000 * min(1, n/40) }, 10, 20, 40, 60, 100)
	// A fifth of the throughput under a reached limit of 60: the same knee at a lower
	// speed or a fifth of the workers, rather than anything else.
	f.change(b, Observation{math.Log(60), math.Log(200), 100}, true, LessWork)
	at := func(n float64) float32 { return f.lnScore(sharp, int(math.Round((math.Log(n)-leastKnee)/kneeStep))) }
	if at(40) < at(1000)+1 || at(8) < at(1000)+1 || f.weight != 0 {
		t.Errorf("scores %v at 40, %v at 8, %v at 1000", at(40), at(8), at(1000))
	}
}

func TestOneOddWindowIsNoChange(t *testing.T) {
	var k Tracker
	normal, odd := Observation{math.Log(60), math.Log(1000), 100}, Observation{math.Log(60), math.Log(200), 100}
	for range 30 {
		k.Learn(normal, Circumstances{Saturated: true})
	}
	weight := k.weight
	if change, _ := k.Learn(odd, Circumstances{Saturated: true}); change != NoChange || k.weight != weight {
		t.Error("one odd window counted")
	}
	if change, _ := k.Learn(normal, Circumstances{Saturated: true}); change != NoChange {
		t.Error("a pause was taken for a change")
	}
	k.Learn(odd, Circumstances{Saturated: true})
	if change, _ := k.Learn(odd, Circumstances{Saturated: true}); change != LessWork {
		t.Errorf("two odd windows: change %v", change)
	}
}

// Deviations of two standard deviations are not odd one by one, but many in a row are a change.
func TestSmallDeviationsAddUpToAChange(t *testing.T) {
	for _, way := range []Change{LessWork, MoreWork} {
		var k Tracker
		z := Observation{math.Log(20), math.Log(500), 50}
		for range 30 {
			k.Learn(z, Circumstances{})
		}
		z.X += float64(way) * 2.2 / math.Sqrt(z.Weight)
		windows := 1
		for change := NoChange; change != way; windows++ {
			if change, _ = k.Learn(z, Circumstances{}); windows > 8 {
				t.Fatalf("no change in the direction %v after %d windows", way, windows)
			}
		}
		if windows < 5 {
			t.Errorf("a change in the direction %v after %d windows", way, windows)
		}
	}
}
