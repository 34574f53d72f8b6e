package longtest

import (
	"os"
	"testing"
)

// Skip skips the test unless WEIR_TESTS is "all", as scripts/all sets it.
func Skip(t testing.TB) {
	t.Helper()
	if os.Getenv("WEIR_TESTS") != "all" {
		t.Skip("takes long, or needs a database server: scripts/all go test runs it")
	}
}
