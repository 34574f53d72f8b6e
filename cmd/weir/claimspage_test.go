package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/weir-go/weir/internal/longtest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/race"
	"github.com/weir-go/weir/internal/suites"
	"github.com/weir-go/weir/sim"
)

var (
	// claim matches a picture, the text below it, and the command that draws it.
	claim      = regexp.MustCompile("(?s)(!\\[.*?)```sh\n.*?(weir sim run .*?)\n```")
	percentage = regexp.MustCompile(`\d+(\.\d+)?%`)
)

// TestClaimsAreMeasured runs the commands of the claims. A percentage of their texts is a figure of
// the run, or a part of the scenario's description.
func TestClaimsAreMeasured(t *testing.T) {
	longtest.Skip(t)
	race.Skip(t, simulates)
	var claims [][]string
	for _, name := range []string{"README.md", "docs/claims.md"} {
		text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
		if errors.Is(err, fs.ErrNotExist) {
			t.Skip("this module is alone, without the documents")
		}
		must.Do(t, err)
		claims = append(claims, claim.FindAllStringSubmatch(string(text), -1)...)
	}
	if len(claims) != 6 {
		t.Fatalf("found %d claims, want 1 of README and 5 of docs/claims.md", len(claims))
	}
	t.Chdir(t.TempDir()) // for the pictures
	for _, c := range claims {
		args := arguments(c[2])
		out := output(t, append(args, "--json")...)
		measured := percentage.FindAllString(aboutScenario(args[2]), -1)
		for line := range strings.Lines(out) {
			var s sim.Score
			must.Do(t, json.Unmarshal([]byte(line), &s))
			for _, figure := range append(s.Phases, s.Goodput, 100*s.Late) {
				measured = append(measured, fmt.Sprintf("%.0f%%", figure), fmt.Sprintf("%.1f%%", figure))
			}
		}
		for _, said := range percentage.FindAllString(c[1], -1) {
			if !slices.Contains(measured, said) {
				t.Errorf("%s: the text says %s, want one of %s", c[2], said, measured)
			}
		}
	}
}

func aboutScenario(name string) string {
	for _, s := range suites.All() {
		if s.Name == name {
			return s.About
		}
	}
	return ""
}
