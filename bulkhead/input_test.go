package bulkhead_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
)

// No call panics or loses a slot for any argument.
func TestBadInput(t *testing.T) {
	s := newSet(t, bulkhead.Config{Max: 4, ByKey: byKey{"a": fixed(4, 0, 0)}})
	var none context.Context
	acquire := func(key string, weight int) func() error {
		return func() error {
			p, err := s.AcquireN(none, key, weight)
			p.Release()
			return err
		}
	}
	work := func(context.Context) error { return nil }
	update := func(c bulkhead.Config) func() error { return func() error { return s.Update(c) } }
	for name, c := range map[string]struct {
		call func() error
		want error
	}{
		"no context":              {acquire("a", 1), nil},
		"weight 0":                {acquire("a", 0), weir.ErrConfig},
		"weight least":            {acquire("a", math.MinInt), weir.ErrConfig},
		"weight most":             {acquire("a", math.MaxInt), weir.ErrConfig},
		"weight above the cap":    {acquire("a", 5), weir.ErrTooHeavy},
		"no key":                  {acquire("", 1), bulkhead.ErrKey},
		"Do, no context":          {func() error { return s.Do(none, "a", work) }, nil},
		"Do, no key":              {func() error { return s.Do(none, "", work) }, bulkhead.ErrKey},
		"a hostile key":           {acquire("\x00\n\xff%s", 1), nil},
		"the key of the overflow": {acquire(bulkhead.Overflow, 1), nil},
		"Max -1":                  {update(bulkhead.Config{Max: -1}), weir.ErrConfig},
		"Max most":                {update(bulkhead.Config{Max: math.MaxInt}), weir.ErrConfig},
		"MaxKeys -1":              {update(bulkhead.Config{Max: 4, MaxKeys: -1}), weir.ErrConfig},
		"MaxKeys most":            {update(bulkhead.Config{Max: 4, MaxKeys: math.MaxInt}), weir.ErrConfig},
		"a Share that is none": {update(bulkhead.Config{
			Max: 4, Default: bulkhead.Compartment{Share: math.NaN()},
		}), weir.ErrConfig},
		"a Share of -Inf": {update(bulkhead.Config{
			Max: 4, Default: bulkhead.Compartment{Share: math.Inf(-1)},
		}), weir.ErrConfig},
		"a Budget below 0": {update(bulkhead.Config{
			Max: 4, Default: bulkhead.Compartment{Budget: math.MinInt64},
		}), weir.ErrConfig},
		"Reserved most": {update(bulkhead.Config{
			Max: 4, ByKey: byKey{"a": {Reserved: math.MaxInt}},
		}), weir.ErrConfig},
		"a setting without a key": {update(bulkhead.Config{Max: 4, ByKey: byKey{"": {}}}), weir.ErrConfig},
	} {
		t.Run(name, func(t *testing.T) {
			if err := c.call(); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			} else if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("%q is more than one line", err)
			}
		})
	}
	if n := s.Snapshot().Total.InFlight; n != 0 {
		t.Errorf("%d in flight", n)
	}
	hold(t, s, "a", 4)
	if err := newSet(t, bulkhead.Config{}).Shutdown(none); err != nil {
		t.Errorf("Shutdown without a context: %v", err)
	}
}
