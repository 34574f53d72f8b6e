package simulate

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/sim"
)

func TestScores(t *testing.T) {
	write := func(text string) string {
		name := filepath.Join(t.TempDir(), "scores.jsonl")
		must.Do(t, os.WriteFile(name, []byte(text), 0o600))
		return name
	}
	line := must.Have(json.Marshal(sim.Score{Scenario: "shop", Law: "theirs", Seed: 7, Goodput: 90}))(t)
	all, err := ReadScores([]string{write(string(line) + "\n")})
	if got := all.Of("shop", 7); err != nil || len(got) != 1 || got[0].Law != "theirs" || got[0].Goodput != 90 {
		t.Errorf("%+v, %v", got, err)
	}
	if got := all.Of("shop", 8); len(got) != 0 {
		t.Errorf("%+v of another seed", got)
	}
	for text, want := range map[string]string{
		"":                                 "has no scores: want lines as weir sim suite --json prints them",
		string(line) + "\n{":               "score 2: unexpected EOF",
		`{"scenario":"x"}`:                 "score 1 has no scenario or no law",
		`{"scenario":"x","goodput":1}`:     `score 1: json: unknown field "goodput"`,
		`{"scenario":"x","law":"y"}` + "]": "score 2: ",
	} {
		if _, err := ReadScores([]string{write(text)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
