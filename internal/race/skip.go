package race

import "testing"

// Skip skips a test under the race detector, for the given reason. The gate finds each test that
// calls it, and runs it without the detector.
func Skip(t testing.TB, why string) {
	t.Helper()
	if Enabled {
		t.Skip(why)
	}
}
