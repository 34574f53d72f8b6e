package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weir-go/weir/bulk"
	"github.com/weir-go/weir/examples/internal/importtest"
	"github.com/weir-go/weir/internal/longtest"
	"github.com/weir-go/weir/internal/must"
)

// TestMistakesAboutTheStore removes a store, or restores an older copy: the journal counts
// all lines, and the store lacks some.
func TestMistakesAboutTheStore(t *testing.T) {
	dir := t.TempDir()
	store, older := filepath.Join(dir, "store"), filepath.Join(dir, "older")
	load := func(file string) (string, error) {
		var out bytes.Buffer
		err := run(t.Context(), []string{"-store", store, "-target", "64", file}, strings.NewReader(""), &out)
		return out.String(), err
	}
	const n = 60
	all := source(t, n)
	half := filepath.Join(dir, "half") // of the lines
	text := must.Have(os.ReadFile(all))(t)
	must.Do(t, os.WriteFile(half, slices.Concat(slices.Collect(bytes.Lines(text))[:n/2]...), 0o600))
	for _, file := range []string{half, all} {
		if out, err := load(file); err != nil {
			t.Fatal(err, out)
		}
		if file == half {
			must.Do(t, os.CopyFS(older, os.DirFS(store)))
		}
	}
	for want, put := range map[string]func() error{
		"0:":  func() error { return nil },                               // removed
		"30:": func() error { return os.CopyFS(store, os.DirFS(older)) }, // restored
	} {
		must.Do(t, errors.Join(os.RemoveAll(store), put()))
		want = store + ".journal says that 60 lines are in, and the store's mark says " + want
		if out, err := load(all); !errors.Is(err, bulk.ErrStore) || !strings.Contains(err.Error(), want) || !strings.Contains(out, "0 lines are in") {
			t.Errorf("%v, %s, want ErrStore with %s", err, out, want)
		}
	}
	must.Do(t, os.Remove(store+".journal"))
	if out, err := load(all); err != nil {
		t.Errorf("begun anew: %v, %s", err, out)
	}
	inStore(t, store, n)
	if out, err := load(all); err != nil || !strings.Contains(out, "60 lines are in") {
		t.Errorf("again: %v, %s", err, out)
	}
}

// TestKeyOfAMark checks that a record with the key of a mark is rejected.
func TestKeyOfAMark(t *testing.T) {
	var out bytes.Buffer
	lines := io.Reader(strings.NewReader(`{"id":"\u0000import/A"}` + "\n"))
	err := run(t.Context(), []string{"-store", filepath.Join(t.TempDir(), "store"), "-target", "64", "-"}, lines, &out)
	if err != nil || !strings.Contains(out.String(), "1 lines are in, 1 of them rejected") {
		t.Errorf("%v, %s", err, &out)
	}
}

// repeated is an endless source that repeats the same bytes.
type repeated string

func (r repeated) Read(p []byte) (int, error) { return copy(p, r), nil }

// TestLinesThatAreNone imports binary data, a line of 100 MB and an endless line, inside the
// target.
func TestLinesThatAreNone(t *testing.T) {
	longtest.Skip(t)
	const target = 256
	xs := repeated(strings.Repeat("x", 1<<20))
	for _, test := range []struct {
		name   string
		source io.Reader
		fails  bool
		want   string
	}{
		{"corrupt", io.MultiReader(strings.NewReader("{\"id\":\"a\"}\n\x00\xff{\"\n{\"id\":\"b\"}\n"), io.LimitReader(repeated("\xff"), 1<<10)), false, "4 lines are in, 2 of them rejected"},
		{"100 MB", io.MultiReader(strings.NewReader("{\"id\":\"a\"}\n"), io.LimitReader(xs, 100_000_000), strings.NewReader("\n{\"id\":\"b\"}\n")), false, "3 lines are in, 1 of them rejected"},
		{"endless", io.MultiReader(strings.NewReader("{\"id\":\"a\"}\n"), xs), true, "bulk: line 2, at byte 11, has no end within "},
	} {
		c := self(t, importing, "-store", filepath.Join(t.TempDir(), "store"), "-target", "256", "-")
		var out bytes.Buffer
		c.Stdin, c.Stdout, c.Stderr = test.source, &out, &out
		seen, err := importtest.Run(t, c, target)
		if (err != nil) != test.fails || !strings.Contains(out.String(), test.want) {
			t.Errorf("%s: %v: %s, want %q", test.name, err, &out, test.want)
		}
		if seen.Resident > target {
			t.Errorf("%s: %.0f MiB of memory", test.name, seen.Resident)
		}
	}
}
