package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/weir-go/weir/examples/internal/importtest"
)

// observe runs measure in a process of its own.
func observe(t *testing.T, target, records int, args ...string) (f figure) {
	t.Helper()
	store := filepath.Join(t.TempDir(), "store")
	defer os.RemoveAll(store) // it takes gigabytes
	c := self(t, append([]string{measuring, "-target", strconv.Itoa(target), "-store", store, "-records", strconv.Itoa(records)}, args...)...)
	var out, complaints bytes.Buffer
	c.Stdout, c.Stderr = &out, &complaints
	seen, err := importtest.Run(t, c, target)
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, &complaints)
	}
	if err := json.Unmarshal(out.Bytes(), &f); err != nil {
		t.Fatalf("%v: %s", err, &out)
	}
	f.Peak = seen
	return f
}
