package bulkhead_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/law"
)

type byKey = map[string]bulkhead.Compartment

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

func TestZeroConfigWorks(t *testing.T) {
	s := newSet(t, bulkhead.Config{})
	if err := s.Do(t.Context(), "anything", work(0)); err != nil {
		t.Error(err)
	}
	snap := s.Snapshot()
	k, ok := snap.ByKey["anything"]
	if !ok || k.Name != "anything" || k.Completed != 1 || snap.Unknown != 1 || snap.MaxKeys != 10_000 || snap.Max != 0 {
		t.Errorf("%+v", snap)
	}
	if _, ok := snap.ByKey[bulkhead.Overflow]; !ok {
		t.Error("no overflow")
	}
}

func TestBadKeysAreRefused(t *testing.T) {
	s := newSet(t, bulkhead.Config{})
	long := strings.Repeat("x", bulkhead.MaxKeyLength)
	for _, key := range []string{"", long + "x", strings.Repeat("x", 1<<20)} {
		_, err := s.Acquire(t.Context(), key)
		if !errors.Is(err, bulkhead.ErrKey) || !errors.Is(err, weir.ErrRefused) || len(err.Error()) > 100 {
			t.Errorf("%d bytes: %v", len(key), err)
		}
		var why *weir.RefusedError
		if !errors.As(err, &why) || why.Reason != weir.ReasonBadKey || len(why.Limiter) > bulkhead.MaxKeyLength {
			t.Errorf("%q: %+v", key, why)
		}
		if err := s.Do(t.Context(), key, work(0)); !errors.Is(err, bulkhead.ErrKey) {
			t.Error(err)
		}
		if _, err := s.Handle(key); !errors.Is(err, bulkhead.ErrKey) {
			t.Error(err)
		}
		if _, ok := s.TryAcquire(t.Context(), key); ok {
			t.Error("admitted")
		}
	}
	hold(t, s, long, 1)
	if n := s.Snapshot().Unknown; n != 1 {
		t.Errorf("%d keys, want 1", n)
	}
}

// TestTheConfigIsCopied, so that its owner may go on using the map.
func TestTheConfigIsCopied(t *testing.T) {
	c := bulkhead.Config{ByKey: byKey{"a": fixed(2, 0, 0)}}
	s := newSet(t, c)
	delete(c.ByKey, "a")
	if err := s.Update(bulkhead.Config{ByKey: byKey{"a": fixed(3, 0, time.Second)}}); err != nil {
		t.Error(err)
	}
	hold(t, s, "a", 3)
	if len(c.ByKey) != 0 {
		t.Error("the map was written to")
	}
}
