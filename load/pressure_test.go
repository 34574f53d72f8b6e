package load

import (
	"errors"
	"testing"
)

const stalls = "some avg10=1.50 avg60=0.40 avg300=0.08 total=147535623\nfull avg10=0.50 avg60=0.00 avg300=0.00 total=135119204\n"

func TestPressure(t *testing.T) {
	machine := files("proc/pressure/memory", stalls)
	if r := poll(t, &Pressure{fsys: machine})["memory pressure"]; r.Value != 0.015 || r.Limit != 0.1 || r.Unit != Share {
		t.Errorf("of the machine: %+v", r)
	}
	own := files("proc/pressure/memory", stalls, "proc/self/cgroup", "0::/app\n", group+"memory.pressure", "some avg10=20.00 avg60=0 avg300=0 total=1\n")
	if r := poll(t, &Pressure{Limit: 0.4, fsys: own})["memory pressure"]; r.Load() != 0.5 {
		t.Errorf("of the control group: %+v", r)
	}
	for name, own := range versions { // which have none of their own
		fsys := files("proc/pressure/memory", stalls, "proc/self/cgroup", own)
		if r := poll(t, &Pressure{fsys: fsys})["memory pressure"]; r.Value != 0.015 {
			t.Errorf("%s: %+v, want that of the machine", name, r)
		}
	}
	if _, err := (&Pressure{fsys: files()}).Poll(t.Context()); !errors.Is(err, ErrUnavailable) {
		t.Errorf("a kernel that tells none: %v", err)
	}
	for _, text := range []string{"", "some\n", "some avg60=1\n", "some avg10=much\n", "full avg10=1.00\n"} {
		if _, err := (&Pressure{fsys: files("proc/pressure/memory", text)}).Poll(t.Context()); err == nil || errors.Is(err, ErrUnavailable) {
			t.Errorf("%q: %v, want an error", text, err)
		}
	}
}
