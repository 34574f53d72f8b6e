package main

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/weir-go/weir/internal/longtest"
)

func TestStormEndsWithAComparison(t *testing.T) {
	longtest.Skip(t)
	t.Setenv("TMPDIR", t.TempDir()) // the stores
	var stdout bytes.Buffer
	if err := run(t.Context(), []string{"-duration", "4s"}, &stdout, false); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"64 writers", "level 0", "no throttle", "drain rate", "with wait p50", "at the stall"} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("no %q in:\n%s", want, &stdout)
		}
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left behind %v, %v", left, err)
	}
}

func TestBadInput(t *testing.T) {
	for args, want := range map[string]string{
		"-duration=1s":   "--duration: 1s: want 2s to 60s",
		"-duration=1h":   "--duration: 1h0m0s: want 2s to 60s",
		"-duration=NaN":  `invalid value "NaN" for flag -duration`,
		"-duration=":     `invalid value "" for flag -duration`,
		"-writers=3":     "flag provided but not defined: -writers",
		"-duration=3s x": "unexpected argument x: want only -duration TIME",
	} {
		var stdout bytes.Buffer
		err := run(t.Context(), strings.Fields(args), &stdout, false)
		if !errors.As(err, new(usageError)) || !strings.HasPrefix(err.Error(), want) || stdout.Len() > 0 {
			t.Errorf("%s: %v, want %q; printed %q", args, err, want, &stdout)
		}
	}
}
