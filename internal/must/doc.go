// Package must ends a test that cannot be prepared, or that waits in vain.
package must

import (
	"os"
	"testing"
	"time"
)

// Have returns the value of a call, or ends the test with its error:
//
//	conn := must.Have(net.Dial("tcp", address))(t)
func Have[T any](value T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// Do ends the test if there is an error.
func Do(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Write writes a file, in one step where there is one already, and returns its name.
func Write[T ~string | ~[]byte](t testing.TB, file string, text T) string {
	t.Helper()
	Do(t, os.WriteFile(file+".new", []byte(text), 0o600))
	Do(t, os.Rename(file+".new", file))
	return file
}

// Happen waits until something has happened. It ends the test after a minute, or a few seconds
// before the time of all tests is over.
func Happen(t testing.TB, what string, happened func() bool) {
	t.Helper()
	end := time.Now().Add(time.Minute)
	if t, ok := t.(*testing.T); ok {
		if over, ok := t.Deadline(); ok && over.Add(-5*time.Second).Before(end) {
			end = over.Add(-5 * time.Second)
		}
	}
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for ; !happened(); <-look.C {
		if time.Now().After(end) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}
