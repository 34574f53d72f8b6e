package proxy

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/internal/must"
)

// A proxy continues from the limits of the one before.
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
		must.Do(t, <-r.ended)
	}
	r := start(t, file(a, "compartments: {other: {}}\nroutes: [{compartment: other}]\nstate: "+state))
	if all := r.Snapshot().ByKey; len(all) != 1 {
		t.Errorf("compartments that the file does not have any more: %v", slices.Collect(maps.Keys(all)))
	}
	if info, err := os.Stat(state); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

// A state that cannot be read keeps no proxy from serving.
func TestStateThatCannotBeUsed(t *testing.T) {
	a, release := named(t, "a")
	release()
	garbage := filepath.Join(t.TempDir(), "garbage")
	must.Do(t, os.WriteFile(garbage, []byte("limits"), 0o600))
	r := start(t, file(a, "state: "+garbage))
	if status, _ := r.get("/"); status != 200 {
		t.Errorf("status %d", status)
	}
	r.stop()
	if err := <-r.ended; err != nil {
		t.Error(err)
	}
}

// A proxy that is killed loses at most the last minute of learning.
func TestStateIsSavedEachMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := must.Have(bulkhead.New(bulkhead.Config{}))(t)
		p := &Proxy{log: discard, set: set}
		file := filepath.Join(t.TempDir(), "state")
		ctx, stop := context.WithCancel(t.Context())
		go p.keepState(ctx, file)
		for range 2 {
			time.Sleep(saveEvery)
			synctest.Wait()
			if err := os.Remove(file); err != nil {
				t.Errorf("after a minute: %v", err)
			}
		}
		stop()
		synctest.Wait()
		if err := os.Remove(file); err != nil {
			t.Errorf("at the end: %v", err)
		}
	})
}
