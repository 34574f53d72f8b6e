package config

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/weir-go/weir/internal/must"
)

var update = flag.Bool("update", false, "write the schema and the documentation anew")

// golden compares a file of the repository with the wanted text, or writes it.
func golden(t *testing.T, path, want string) {
	t.Helper()
	if *update {
		must.Do(t, os.WriteFile(path, []byte(want), 0o644))
		return
	}
	got := must.Have(os.ReadFile(path))(t)
	was, is := strings.Split(string(got), "\n"), strings.Split(want, "\n")
	for i := range max(len(was), len(is)) {
		if i >= len(was) || i >= len(is) || was[i] != is[i] {
			t.Fatalf("%s:%d is out of date: go test ./cmd/weir/internal/config -update", path, i+1)
		}
	}
}
