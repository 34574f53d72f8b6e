package longtest

import (
	"os"
	"testing"
)

// All reports whether long tests run, so that a test may extend its run.
func All() bool { return os.Getenv("WEIR_TESTS") == "all" }

// Full reports whether trials run with all seeds, and as long, as the figures in docs/results need.
// The gate runs fewer seeds, for less time.
func Full() bool { return os.Getenv("WEIR_TRIALS") == "full" }

// Skip skips the test unless WEIR_TESTS is "all". scripts/all sets it.
func Skip(t testing.TB) {
	t.Helper()
	if !All() {
		t.Skip("takes long, or needs a database server: scripts/all go test runs it")
	}
}
