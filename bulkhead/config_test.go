package bulkhead_test

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
)

func TestConfigErrorsNameTheFieldTheValueAndTheRange(t *testing.T) {
	for want, c := range map[string]bulkhead.Config{
		"Max is -1: want 0 (no cap) or 1 to":          {Max: -1},
		"Max is 1000000001: want 0 (no cap) or 1 to":  {Max: 1_000_000_001},
		"MaxKeys is -1: want 0 (the default, 10000)":  {MaxKeys: -1},
		"MaxKeys is 10000001: want 0":                 {MaxKeys: 10_000_001},
		"Default.Reserved is 1: want 0":               {Max: 10, Default: bulkhead.Compartment{Reserved: 1}},
		"Default.Config.Name is x: want none":         {Default: bulkhead.Compartment{Config: weir.Config{Name: "x"}}},
		"Default.Config: weir: invalid":               {Default: bulkhead.Compartment{Config: weir.Config{Min: -1}}},
		`ByKey["a"].Config: weir: invalid`:            {ByKey: byKey{"a": {Config: weir.Config{Min: 5, Max: 2}}}},
		`ByKey["a"].Config: law: `:                    {ByKey: byKey{"a": {Config: weir.Config{Law: law.Band{Target: -1}}}}},
		`ByKey["a"].Share is -1: want 0 (the default`: {ByKey: byKey{"a": {Share: -1}}},
		`ByKey["a"].Share is NaN: want`:               {ByKey: byKey{"a": {Share: math.NaN()}}},
		`ByKey["a"].Share is +Inf: want`:              {ByKey: byKey{"a": {Share: math.Inf(1)}}},
		`ByKey["a"].Reserved is -1: want 0 to`:        {Max: 10, ByKey: byKey{"a": {Reserved: -1}}},
		`ByKey["a"].Reserved is 3: want 0 to Config.M`: {
			Max:   10,
			ByKey: byKey{"a": {Reserved: 3, Config: weir.Config{Max: 2}}},
		},
		`ByKey["b"].Reserved is 6: want at most 5`: {Max: 10, ByKey: byKey{"a": {Reserved: 5}, "b": {Reserved: 6}}},
		`ByKey["a"].Reserved is 1: want at most 0`: {ByKey: byKey{"a": {Reserved: 1}}},
		`ByKey["a"].Budget is -1ns: want 0 (none)`: {ByKey: byKey{"a": {Budget: -1}}},
		`ByKey["a"].Breaker is set beside`: {ByKey: byKey{"a": {
			Config: weir.Config{Breaker: &breaker{}}, Breaker: func(string) weir.Breaker { return nil },
		}}},
		`ByKey["a"].Config: bulkhead_test.none returned neither a controller nor an error`: {ByKey: byKey{"a": {
			Config: weir.Config{Law: none{}}, Budget: time.Second,
		}}},
		"ByKey: key of 0 bytes: want 1 to 256":   {ByKey: byKey{"": {}}},
		"ByKey: key of 257 bytes: want 1 to 256": {ByKey: byKey{strings.Repeat("x", 257): {}}},
	} {
		_, err := bulkhead.New(c)
		if err == nil || !errors.Is(err, weir.ErrConfig) || errors.Is(err, weir.ErrRefused) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("got %v\nwant ... %s", err, want)
		}
		s := newSet(t, bulkhead.Config{Max: min(1, max(0, c.Max))})
		if again := s.Update(c); again == nil || again.Error() != err.Error() {
			t.Errorf("Update says %v\nwant %v", again, err)
		}
	}
}

type none struct{}

func (none) Controller(law.Bounds) (law.Controller, error) { return nil, nil }

func TestConfigHasTheDefaults(t *testing.T) {
	usual := weir.Must(weir.New(weir.Config{})).Config()
	usual.Name = ""
	s := newSet(t, bulkhead.Config{Max: 50, ByKey: byKey{"search": {Reserved: 10}}})
	want := bulkhead.Config{
		Default: bulkhead.Compartment{Config: usual, Share: 1}, Max: 50, MaxKeys: 10_000,
		ByKey: byKey{"search": {Config: usual, Reserved: 10, Share: 1}},
	}
	must.Do(t, s.SetMax(20))
	if got := s.Config(); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
}

// The set's additions for its keys are not in the configuration that is read, or they would be
// added again by an update with that.
func TestConfigGoesInAgain(t *testing.T) {
	heard := map[string]int{}
	hook := func(name string) func(weir.Event) { return func(weir.Event) { heard[name]++ } }
	slow, busy := fixed(4, 0, 0), fixed(4, 0, 0)
	slow.Config.Law, busy.Config.Law = law.Fixed{}, law.Fixed{}
	slow.Budget = 20 * time.Millisecond
	slow.Breaker = func(string) weir.Breaker { return nil }
	s := newSet(t, bulkhead.Config{
		Default: fixed(1, 0, 0), ByKey: byKey{"slow": slow, "busy": busy}, OnEvent: hook("first"),
	})

	c := s.Config()
	k := c.ByKey["slow"]
	if _, named := c.ByKey[bulkhead.Overflow]; named || len(c.ByKey) != 2 {
		t.Errorf("%v: want the keys that were named", c.ByKey)
	}
	if k.Config.Law != law.Law(law.Fixed{}) || k.Budget != slow.Budget || k.Config.OnEvent != nil || k.Breaker == nil ||
		c.OnEvent == nil {
		t.Errorf("%+v: want what was given", k)
	}
	busy = c.ByKey["busy"]
	delete(c.ByKey, "busy")
	if len(s.Config().ByKey) != 2 {
		t.Error("the map of the set was given away")
	}

	busy.Config.Initial = 6
	c.ByKey["busy"], c.OnEvent = busy, hook("second")
	c.Default.Config.Max, c.Default.Config.Initial = 2, 2
	update(t, s, c)
	clear(heard)
	hold(t, s, "busy", 6) // law.Fixed{} follows Initial
	hold(t, s, bulkhead.Overflow, 2)
	for _, key := range []string{"busy", bulkhead.Overflow} {
		if _, err := s.TryAcquire(t.Context(), key); err == nil {
			t.Errorf("%s has more than its slots", key)
		}
	}
	if heard["first"] != 0 || heard["second"] != 2 {
		t.Errorf("heard %v: want both refusals heard by the new hook", heard)
	}
}

// TestTheConfigIsCopied, so that its owner may go on using the map.
func TestTheConfigIsCopied(t *testing.T) {
	c := bulkhead.Config{ByKey: byKey{"a": fixed(2, 0, 0)}}
	s := newSet(t, c)
	delete(c.ByKey, "a")
	must.Do(t, s.Update(bulkhead.Config{ByKey: byKey{"a": fixed(3, 0, time.Second)}}))
	hold(t, s, "a", 3)
	if len(c.ByKey) != 0 {
		t.Error("the map was written to")
	}
}
