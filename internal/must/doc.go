// Package must ends a test that cannot be prepared, or that waits in vain.
package must

import (
	"os"
	"strings"
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

// Write writes a file and returns its name. It replaces an existing file in one step.
func Write[T ~string | ~[]byte](t testing.TB, file string, text T) string {
	t.Helper()
	Do(t, os.WriteFile(file+".new", []byte(text), 0o600))
	Do(t, os.Rename(file+".new", file))
	return file
}

// Golden compares a text with a file line by line, or writes the file.
func Golden[T ~string | ~[]byte](t testing.TB, file string, text T, write bool) {
	t.Helper()
	if write {
		Do(t, os.WriteFile(file, []byte(text), 0o644)) //nolint:gosec // it is a part of the repository
		return
	}
	want, got := strings.Split(string(Have(os.ReadFile(file))(t)), "\n"), strings.Split(string(text), "\n")
	for i := range max(len(want), len(got)) {
		if i >= len(want) || i >= len(got) || want[i] != got[i] {
			t.Fatalf("%s differs from line %d on: if that is meant, write it with the flag -update\n got %q\nwant %q",
				file, i+1, got[min(i, len(got)-1)], want[min(i, len(want)-1)])
		}
	}
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
