package law

import "testing"

func TestTestTellsAQueueFromSlowerWork(t *testing.T) {
	for _, c := range []struct {
		name string
		x    float64 // after the cut from 100 in flight to 40
		want bool    // the base has moved
	}{{"queue", 1000, false}, {"slower work", 400, true}} {
		var test test
		test.judge(flow{n: 50, x: 1000, latency: 0.05, saturated: true}, 0)
		slow := flow{n: 100, x: 1000, latency: 0.25, saturated: true}
		if test.judge(slow, 0) || !test.judge(slow, 0) {
			t.Fatalf("%s: no test after two slow windows", c.name)
		}
		test.judge(flow{n: 40, x: c.x, latency: 0.1, saturated: true}, 0)
		if moved := test.base > 0.05; moved != c.want {
			t.Errorf("%s: base %v", c.name, test.base)
		}
	}
}
