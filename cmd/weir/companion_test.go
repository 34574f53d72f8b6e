package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// installed puts a shell script on the PATH in place of a companion.
func installed(t *testing.T, name, script string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
}

func TestDatabaseDemoIsACommandOfItsOwn(t *testing.T) {
	installed(t, "weir-storm", `echo "$@"; echo "weir-storm: too short" >&2; exit 2`)
	var stdout, stderr bytes.Buffer
	err := run(t.Context(), []string{"demo", "database", "--duration", "1s"}, environmentOf(""), &stdout, &stderr)
	if status := exitStatus(err, &stderr); status != 2 {
		t.Errorf("status %d, want that of the command: 2", status)
	}
	if got, want := stdout.String()+stderr.String(), "-duration 1s\nweir-storm: too short\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestCompanionThatIsNotInstalled(t *testing.T) {
	here := t.TempDir()
	t.Chdir(here)
	installed(t, "other", "")
	if err := os.WriteFile("weir-storm", []byte("#!/bin/sh\n"), 0o700); err != nil { //nolint:gosec // it could be run
		t.Fatal(err)
	}
	t.Setenv("PATH", "."+string(filepath.ListSeparator)+t.TempDir())
	var stdout, stderr bytes.Buffer
	err := run(t.Context(), []string{"demo", "database"}, environmentOf(""), &stdout, &stderr)
	if status := exitStatus(err, &stderr); status != 1 {
		t.Errorf("status %d, want 1", status)
	}
	const want = "weir: weir-storm is not installed: want it beside weir or on the PATH: " +
		"go install github.com/weir-go/weir/cmd/weir-storm@latest, or in a checkout: scripts/all go install ./cmd/weir-storm\n"
	if stderr.String() != want || stdout.Len() > 0 {
		t.Errorf("%s%s, want %s", &stdout, &stderr, want)
	}
}

func TestInterruptReachesTheCompanion(t *testing.T) {
	installed(t, "weir-storm", `trap 'kill $!; echo compared; exit 0' INT; sleep 60 >/dev/null 2>&1 & echo started; wait`)
	ctx, interrupt := context.WithCancel(t.Context())
	out, in := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, []string{"demo", "database"}, environmentOf(""), in, io.Discard)
		in.Close()
	}()
	first := make([]byte, len("started\n"))
	if _, err := io.ReadFull(out, first); err != nil {
		t.Fatal(err)
	}
	interrupt()
	if rest, err := io.ReadAll(out); err != nil || string(rest) != "compared\n" {
		t.Errorf("after the interrupt: %q, %v", rest, err)
	}
	<-ended
}
