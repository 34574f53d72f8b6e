package config_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/law"
)

var update = flag.Bool("update", false, "write the schema and the documentation anew")

// small is the smallest configuration.
const small = "upstreams:\n  api: {addresses: [\"http://10.0.0.1:9000\"]}\n"

func parsed(t *testing.T, text string, environ ...string) *config.Config {
	t.Helper()
	c, err := config.Parse("w", []byte(text), environ)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// refused complains unless the error has exactly the given lines.
func refused(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil {
		t.Errorf("accepted, want %s", want)
		return
	}
	if got := err.Error(); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

// golden compares a file of the repository with what it should be, or writes it.
func golden(t *testing.T, path, want string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	was, is := strings.Split(string(got), "\n"), strings.Split(want, "\n")
	for i := range max(len(was), len(is)) {
		if i >= len(was) || i >= len(is) || was[i] != is[i] {
			t.Fatalf("%s:%d is out of date: go test ./cmd/weir/internal/config -update", path, i+1)
		}
	}
}

// write makes a file and returns its path.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := t.TempDir() + "/" + name
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// refusalOf is what package law says of a text; the list of laws is its own.
func refusalOf(text string) string {
	_, err := law.Parse(text)
	return err.Error()
}

// wantURLs is what is said of addresses that follow each other in quotes from a column on.
func wantURLs(column int, addresses ...string) (all string) {
	for i, address := range addresses {
		all += fmt.Sprintf("w:2:%d: upstreams.api.addresses[%d] is %q: want a URL such as http://10.0.0.1:9000, without user, query and fragment\n", column, i, address)
		column += len(address) + len("'', ")
	}
	return all
}
