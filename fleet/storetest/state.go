package storetest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/fleet"
	"github.com/weir-go/weir/law"
)

func saves(t *testing.T, s fleet.Store) {
	for _, want := range []string{"", "{1}", "{2}"} {
		if want != "" {
			if err := fleet.SaveState(t.Context(), s, "search", []byte(want)); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := fleet.LoadState(t.Context(), s, "search"); err != nil || string(got) != want {
			t.Errorf("the state is %q, %v: want %q", got, err, want)
		}
	}
}

// savesSet keeps the largest state of a set, which the watch of an allocator does not show.
func savesSet(t *testing.T, s fleet.Store) {
	all := follow(t, s, "lease")
	keys := make([]string, 999) // and the overflow
	before := newSet(t, 25, law.Gradient{})
	for i := range keys {
		keys[i] = fmt.Sprintf("%0*d", bulkhead.MaxKeyLength, i)
		permit, err := before.Acquire(t.Context(), keys[i])
		if err != nil {
			t.Fatal(err)
		}
		permit.Release()
	}
	if err := fleet.SaveState(t.Context(), s, "keys", before.Save()); err != nil {
		t.Fatal(err)
	}
	after := newSet(t, 0, law.Gradient{})
	if err := load(t, s, after); err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		if limit := limitOf(after, key); limit != 25 {
			t.Fatalf("the limit of key %s is %d: want 25", strings.TrimLeft(key, "0"), limit)
		}
	}
	put(t, s, "lease.want.a", "after")
	all.shows(t, "lease.want.a", "after")
	all.mu.Lock()
	defer all.mu.Unlock()
	if len(all.entries) != 1 {
		t.Errorf("the watch of an allocator shows %d: want 1, and no state", len(all.entries))
	}
}

// refuses takes from an old state only the limit, and nothing from values that others wrote.
func refuses(t *testing.T, s fleet.Store) {
	now := time.Now()
	huge := strings.Repeat(" ", 512<<10) + stateOf("law.Setpoint", now)
	for state, want := range map[string]string{
		"{": "want what Save returned", `{"version":9}`: "version 9", huge: "bytes: want 1 to",
		stateOf("law.AIMD", now): "it is of law.AIMD", strings.Replace(stateOf("law.Setpoint", now), `:9`, `:-9`, 1): "limit is -9",
	} {
		put(t, s, "state.keys", state)
		set := newSet(t, 25, law.Setpoint{})
		if err := load(t, s, set); err == nil || !strings.Contains(err.Error(), want) || limitOf(set, "a") != 25 {
			t.Errorf("%.50s: %v, and a limit of %d: want %q, and 25", state, err, limitOf(set, "a"), want)
		}
	}
	for saved, known := range map[time.Time]bool{now: true, now.Add(-2 * time.Hour): false} {
		put(t, s, "state.keys", stateOf("law.Setpoint", saved))
		set := newSet(t, 25, law.Setpoint{})
		if err := load(t, s, set); err != nil || limitOf(set, "a") != 9 || strings.Contains(string(set.Save()), "no_load") != known {
			t.Errorf("saved %v ago: %v, %s", now.Sub(saved), err, set.Save())
		}
	}
}

// stateOf is the state of a set with one key.
func stateOf(law string, saved time.Time) string {
	text, err := json.Marshal(saved)
	if err != nil {
		panic(err) // a time of this year
	}
	return fmt.Sprintf(`{"version":1,"keys":{"a":{"version":1,"saved":%s,"law":%q,"limit":9,"no_load_ns":5000000}}}`, text, law)
}

func newSet(t *testing.T, initial int, l law.Law) *bulkhead.Set {
	t.Helper()
	set, err := bulkhead.New(bulkhead.Config{Default: bulkhead.Compartment{Config: weir.Config{Initial: initial, Law: l}}})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// load restores a set from the store.
func load(t *testing.T, s fleet.Store, set *bulkhead.Set) error {
	t.Helper()
	state, err := fleet.LoadState(t.Context(), s, "keys")
	if err == nil {
		err = set.Restore(state)
	}
	return err
}

// limitOf makes a key that is new, as work does.
func limitOf(set *bulkhead.Set, key string) int {
	h, _ := set.Handle(key) // not empty, and not too long
	return h.Snapshot().Limit
}
