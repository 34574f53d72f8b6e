package proxy

import (
	"os"
	"path/filepath"
	"testing"
)

// A proxy goes on from the limits of the one before.
func TestStateSurvivesARestart(t *testing.T) {
	a, release := named(t, "a")
	release()
	state := filepath.Join(t.TempDir(), "state.json")
	for _, c := range []struct {
		more string
		want int
	}{{", initial: 30", 30}, {"", 30}, {", max: 25", 25}} {
		r := start(t, file(a, "compartments: {api: {law: gradient"+c.more+"}}\nstate: "+state))
		if limit := r.Snapshot().ByKey["api"].Limit; limit != c.want {
			t.Errorf("%q: a limit of %d, want %d", c.more, limit, c.want)
		}
		r.stop()
		if err := <-r.ended; err != nil {
			t.Fatal(err)
		}
	}
	if info, err := os.Stat(state); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

// A state that cannot be read or written keeps no proxy from serving.
func TestStateThatCannotBeUsed(t *testing.T) {
	a, release := named(t, "a")
	release()
	garbage := filepath.Join(t.TempDir(), "garbage")
	if err := os.WriteFile(garbage, []byte("limits"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, state := range []string{garbage, t.TempDir(), filepath.Join(t.TempDir(), "none", "state")} {
		r := start(t, file(a, "state: "+state))
		if status, _ := r.get("/"); status != 200 {
			t.Errorf("%s: status %d", state, status)
		}
		r.stop()
		if err := <-r.ended; err != nil {
			t.Errorf("%s: %v", state, err)
		}
	}
}
