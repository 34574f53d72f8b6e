package memory

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

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
