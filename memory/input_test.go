package memory

import (
	"context"
	"errors"
	"math"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/weir-go/weir/load"
)

func TestSettingsOutOfRange(t *testing.T) {
	for field, c := range map[string]Config{
		"Target":    {Target: 256}, // that was meant as MiB
		"Mapped[0]": {Mapped: []string{"data/*.sst"}},
		"Mapped[1]": {Mapped: []string{"/data/*.sst", "/data/[.sst"}},
	} {
		if _, err := New(c); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), field+" is ") {
			t.Errorf("%+v: %v, want an error about %s", c, err, field)
		}
	}
}

func TestZeroConfigHasATarget(t *testing.T) {
	c, err := Config{}.complete()
	if err != nil || c.Target < leastTarget {
		t.Errorf("%+v, %v", c, err)
	}
}

// A group is the source of a control group's memory.
type group struct {
	limit float64
	err   error
}

func (group) Name() string { return "group" }

func (g group) Poll(context.Context) (load.Sample, error) {
	return load.Sample{Readings: []load.Reading{{Limit: g.limit}}}, g.err
}

func TestDefaultTarget(t *testing.T) {
	for _, test := range []struct {
		group group
		want  uint64
	}{
		{group{limit: 1 << 30}, 858993459},
		{group{err: load.ErrUnavailable}, 1_500_000_000},
		{group{limit: 9223372036854771712}, 1_500_000_000}, // the value of version 1 where there is none
		{group{limit: math.NaN()}, 1_500_000_000},
		{group{limit: 1000}, leastTarget},
	} {
		if got := groupTarget(test.group); got != test.want {
			t.Errorf("%+v: %d, want %d", test.group, got, test.want)
		}
	}
}

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
