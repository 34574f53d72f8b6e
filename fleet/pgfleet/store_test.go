package pgfleet_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/fleet/pgfleet"
)

// TestFleet of internal/dbtest runs the store on a real server.
func TestConfig(t *testing.T) {
	for want, c := range map[string]pgfleet.Config{
		`Fleet is ""`: {},
		"Poll is 1ms": {Fleet: "search", Poll: time.Millisecond},
		"Poll is 1m":  {Fleet: "search", Poll: time.Minute},
	} {
		if _, err := pgfleet.New(t.Context(), nil, c); !errors.Is(err, weir.ErrConfig) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
