package bulkhead_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
)

// A restored set has the limits of the one before, of named keys and of others. Budgets may come
// and go: the law beneath has learned. A key that the configuration does not name any more is gone.
func TestRestore(t *testing.T) {
	conf := bulkhead.Config{
		Max: 1000,
		ByKey: map[string]bulkhead.Compartment{
			"named":  {Config: weir.Config{Law: law.Gradient{}, Initial: 30, Max: 100}, Reserved: 7, Share: 3},
			"budget": {Config: weir.Config{Law: law.Gradient{}, Initial: 40, Max: 100}, Budget: time.Second},
			"fixed":  {Config: weir.Config{Law: law.Fixed{Limit: 50}, Max: 100}},
			"gone":   {Config: weir.Config{Law: law.AIMD{}}},
		},
		Default: bulkhead.Compartment{Config: weir.Config{Law: law.Gradient{}, Initial: 25, Max: 100}},
	}
	before := newSet(t, conf)
	must.Do(t, before.Do(t.Context(), "other", func(context.Context) error { return nil }))
	state := before.Save()
	for key, k := range conf.ByKey {
		k.Config.Initial, k.Config.Max, k.Budget = 0, 35, time.Second-k.Budget
		conf.ByKey[key] = k
	}
	conf.Default.Config.Initial = 0
	delete(conf.ByKey, "gone")
	after := newSet(t, conf)
	must.Do(t, after.Restore(state))
	if keys := after.Snapshot().ByKey; len(keys) != 4 {
		t.Errorf("compartments of %v: want the named ones and that of other", slices.Sorted(maps.Keys(keys)))
	}
	for key, want := range map[string]int{"named": 30, "budget": 35, "fixed": 35, "other": 25, "unknown": 20} {
		if limit := limitOf(t, after, key); limit != want {
			t.Errorf("%s: a limit of %d, want %d", key, limit, want)
		}
	}
	if k := after.Snapshot().ByKey["named"]; k.Reserved != 7 {
		t.Errorf("%d reserved, want 7 as before", k.Reserved)
	}
}

// Keys of a state that find no room are left out. None gives way to another.
func TestRestoreOfMoreKeysThanThereIsRoom(t *testing.T) {
	before := newSet(t, bulkhead.Config{})
	for _, key := range []string{"a", "b", "c"} {
		must.Do(t, before.Do(t.Context(), key, func(context.Context) error { return nil }))
	}
	after := newSet(t, bulkhead.Config{MaxKeys: 2})
	must.Do(t, after.Restore(before.Save()))
	if s := after.Snapshot(); s.Evicted != 0 || s.ByKey["a"].Limit == 0 || s.ByKey["b"].Limit == 0 {
		t.Errorf("%d evicted, compartments of %v: want a and b", s.Evicted, slices.Sorted(maps.Keys(s.ByKey)))
	}
}

// JSON would turn keys that are not UTF-8 into other keys.
func TestSaveLeavesKeysOut(t *testing.T) {
	before := newSet(t, bulkhead.Config{ByKey: map[string]bulkhead.Compartment{"named\xff": {}, "named": {}}})
	for _, key := range []string{"other\xff", "other\xfe", "other"} {
		must.Do(t, before.Do(t.Context(), key, func(context.Context) error { return nil }))
	}
	after := newSet(t, bulkhead.Config{ByKey: map[string]bulkhead.Compartment{"named": {}}})
	state := before.Save()
	must.Do(t, after.Restore(state))
	if keys := slices.Sorted(maps.Keys(after.Snapshot().ByKey)); !slices.Equal(keys, []string{"named", "other"}) ||
		strings.Contains(string(state), `\ufffd`) {
		t.Errorf("compartments of %q after %s: want named and other", keys, state)
	}
}

func limitOf(t *testing.T, s *bulkhead.Set, key string) int {
	t.Helper()
	h := must.Have(s.Handle(key))(t)
	return h.Snapshot().Limit
}

func TestRestoreRefuses(t *testing.T) {
	s := newSet(t, bulkhead.Config{ByKey: map[string]bulkhead.Compartment{"a": {}, "b": {}}})
	many := make([]string, 1001)
	for i := range many {
		many[i] = fmt.Sprintf(`"%d":{}`, i)
	}
	for state, want := range map[string]string{
		"":              "want what Save returned",
		`{"version":3}`: "version 3, and this program reads 1",
		`{"version":1,"keys":{"a":{"version":1,"law":"law.Setpoint","limit":9}},"unknown":{"":{}}}`:                            "key of 0 bytes: want 1 to 256",
		`{"version":1,"keys":{` + strings.Join(many, ",") + `}}`:                                                               "1001 keys: want at most 1000",
		`{"version":1,"keys":{"a":{"version":1,"law":"law.AIMD","limit":9},"b":{"version":1,"law":"law.Setpoint","limit":9}}}`: `"a": it is of law.AIMD`,
	} {
		if err := s.Restore([]byte(state)); !errors.Is(err, weir.ErrConfig) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", state, err, want)
		}
	}
	if a, b := limitOf(t, s, "a"), limitOf(t, s, "b"); a != 4 || b != 9 {
		t.Errorf("limits of %d and %d: want 4 and 9", a, b)
	}
}

// A state has at most a thousand keys, first the named keys and the keys in use.
func TestSaveOfManyKeys(t *testing.T) {
	s := newSet(t, bulkhead.Config{ByKey: map[string]bulkhead.Compartment{"named": {}}})
	for i := range 1500 {
		must.Do(t, s.Do(t.Context(), fmt.Sprint(i), func(context.Context) error { return nil }))
	}
	state := string(s.Save())
	if n := strings.Count(state, `"limit"`); n != 1000 || !strings.Contains(state, `"named"`) {
		t.Errorf("%d keys", n)
	}
	must.Do(t, newSet(t, bulkhead.Config{}).Restore([]byte(state)))
}

func FuzzRestore(f *testing.F) {
	f.Add([]byte(`{"version":1,"unknown":{"a":{"version":1,"law":"law.Setpoint","limit":9},"":{}}}`))
	f.Fuzz(func(t *testing.T, state []byte) {
		s := newSet(t, bulkhead.Config{Max: 100, MaxKeys: 10})
		_ = s.Restore(state)
		must.Do(t, s.Do(t.Context(), "a", func(context.Context) error { return nil }))
		if n := s.Snapshot().Total.InFlight; n != 0 {
			t.Errorf("%d in flight", n)
		}
	})
}
