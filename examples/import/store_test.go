package main

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weir-go/weir/examples/internal/importtest"
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
