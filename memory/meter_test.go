package memory

import (
	"os"
	"testing"
	"testing/fstest"
)

func TestMeterWithoutLinux(t *testing.T) {
	m := newMeter()
	for _, statm := range []string{"", "1 2", "1 many 3", "1 2 many"} {
		m.system = fstest.MapFS{"proc/self/statm": {Data: []byte(statm)}}
		if r := m.read(); r.anonymous != r.runtime || r.runtime == 0 || r.fixed == 0 {
			t.Errorf("statm %q: %+v, want what the runtime has", statm, r)
		}
	}
	m.system = fstest.MapFS{"proc/self/statm": {Data: []byte("9000 700 200 1 0 5 0\n")}}
	if r := m.read(); r.anonymous != 500*uint64(os.Getpagesize()) || r.resident != 700*uint64(os.Getpagesize()) {
		t.Errorf("%+v", r)
	}
}
