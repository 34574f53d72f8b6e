package main

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weir-go/weir/examples/internal/importtest"
	"github.com/weir-go/weir/internal/longtest"
	"github.com/weir-go/weir/internal/must"
)

// TestKeyOfAMark checks that a record with the key of a mark is rejected.
func TestKeyOfAMark(t *testing.T) {
	var out bytes.Buffer
	lines := io.Reader(strings.NewReader(`{"id":"\u0000import/A"}` + "\n"))
	err := run(t.Context(), []string{"-store", filepath.Join(t.TempDir(), "store"), "-target", "64", "-"}, lines, &out)
	if err != nil || !strings.Contains(out.String(), "1 lines are in, 1 of them rejected") {
		t.Errorf("%v, %s", err, &out)
	}
}

// TestStoreWithASlash checks that an import resumes whether or not the name of its store ends in a
// slash.
func TestStoreWithASlash(t *testing.T) {
	store := filepath.Join(t.TempDir(), "store")
	for _, name := range []string{store + "/", store} {
		if err := run(t.Context(), []string{"-store", name, "-target", "64", "-"}, strings.NewReader(`{"id":"a"}`), io.Discard); err != nil {
			t.Error(err)
		}
	}
	if acknowledged := importtest.Acknowledged(t, store+".journal"); acknowledged != 1 {
		t.Errorf("%d lines are acknowledged, want 1", acknowledged)
	}
	if files := must.Have(filepath.Glob(filepath.Join(store, ".*")))(t); len(files) > 0 {
		t.Errorf("%v are in the store", files)
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
