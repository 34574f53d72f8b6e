package fleet_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/fleet"
)

// A directory is a DNS server with a number of addresses for any name, or with an error.
type directory struct {
	n   int
	err error
}

func (d *directory) LookupHost(context.Context, string) ([]string, error) {
	return make([]string, d.n), d.err
}

func TestCounter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d directory
		down := errors.New("no answer")
		c := fleet.Counter{Host: "search", Resolver: &d}
		for _, s := range []struct {
			after time.Duration
			n     int
			err   error
			want  int
		}{
			{0, 0, down, 1},
			{0, 3, nil, 3},
			{time.Minute, 2, nil, 3},
			{0, 0, down, 3},
			{time.Minute, 4, nil, 4},
			{4 * time.Minute, 2, nil, 4},
			{2 * time.Minute, 2, nil, 2},
			{time.Hour, 0, down, 2},
		} {
			time.Sleep(s.after)
			d.n, d.err = s.n, s.err
			if got, err := c.Count(t.Context()); got != s.want || !errors.Is(err, s.err) {
				t.Errorf("%d, %v with %d addresses, want %d", got, err, s.n, s.want)
			}
		}
	})
}
