package law

import (
	"reflect"
	"testing"

	"github.com/weir-go/weir/internal/knee"
)

func TestSeekerIsKeptBetweenDecisions(t *testing.T) {
	was := seeker{
		tracker: &knee.Tracker{}, pulse: pulse{1.1}, unit: 2.1, variation: 3, used: 4, peak: 5, target: 6, way: -1,
		windows: 7, change: knee.MoreWork, probing: true, down: true, waited: 8, every: 9,
		test: test{base: 10.1, slow: 1, running: true, n: 11, x: 12.1},
		ebb: ebb{
			stage: deeper, from: point{13, 14.1, 15.1, 16}, resume: 17, ebbs: 18,
			base:  base{latency: 19.1, known: true, reference: sums{20.1, 21, 22.1, 23}},
			theta: 24, ceiling: 25, over: 26, schedule: schedule{27, 28}, sharing: evidence{29}, reached: 30,
			pressed: 31,
		},
	}
	was.tracker.Absorb(knee.Observation{N: 1, X: 2, Weight: 3})
	requireNoZero(t, reflect.ValueOf(was), "seeker")

	var kept keptSeeker
	kept.keep(&was)
	is := kept.seeker()
	if *is.tracker != *was.tracker {
		t.Error("the beliefs became others")
	}
	if is.tracker = was.tracker; is != was {
		t.Errorf("kept as %+v, want %+v", is, was)
	}
}

// requireNoZero fails where a field was added that the test does not set.
func requireNoZero(t *testing.T, v reflect.Value, name string) {
	t.Helper()
	if v.Kind() == reflect.Struct {
		for i := range v.NumField() {
			requireNoZero(t, v.Field(i), name+"."+v.Type().Field(i).Name)
		}
	} else if v.IsZero() {
		t.Errorf("%s is zero: give it a value here, so that it is seen to be kept", name)
	}
}
