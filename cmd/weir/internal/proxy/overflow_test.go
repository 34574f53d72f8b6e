package proxy

import (
	"strings"
	"testing"
)

// Requests have only keys that routes name, so figures exclude the compartment of unknown
// keys.
func TestUnknownKeysAreInNoFigure(t *testing.T) {
	a, _ := named(t, "a")
	r := start(t, file(a, "compartments: {api: {min: 2, initial: 7, max: 30}}"))
	if limit := r.Snapshot().Total.Limit; limit != 7 {
		t.Errorf("a limit of %d, want 7", limit)
	}
	text := r.metrics()
	if strings.Contains(text, "overflow") {
		t.Error("/metrics has series of unknown keys")
	}
	for _, want := range []string{
		`weir_limit{limiter="compartments"} 7`, `weir_limit_min{limiter="compartments"} 2`, `weir_limit_max{limiter="compartments"} 30`,
		`weir_limit{limiter="streams"} 1000`, `weir_key_limit{key="api",limiter="compartments"} 7`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("/metrics does not say %s", want)
		}
	}
}
