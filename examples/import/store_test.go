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
