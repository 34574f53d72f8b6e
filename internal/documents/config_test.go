package documents

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var onlyComments = regexp.MustCompile(`^(\s*(#.*)?\n)*$`)

// checks runs weir check on a configuration of the proxy.
func (r *reader) checks(ctx context.Context, dir string, b Block) error {
	if onlyComments.MatchString(b.Text) {
		return nil
	}
	// Empty lines above the text make its line numbers match the document.
	file := filepath.Join(dir, "weir.yaml")
	if err := os.WriteFile(file, []byte(strings.Repeat("\n", b.Line)+b.Text), 0o600); err != nil {
		return err
	}
	out, err := r.command(ctx, "weir check '"+file+"'").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s: this is no configuration of the proxy:\n%s", b.At(), strings.ReplaceAll(strings.TrimSpace(string(out)), file, b.Document))
	}
	return err
}

// checkAll checks every configuration in the documents, and then a wrong one.
func checkAll(t *testing.T, r *reader) {
	for _, b := range blocksOf(t, "yaml") {
		if err := r.checks(t.Context(), t.TempDir(), b); err != nil {
			t.Error(err)
		}
	}
	document := "Text.\n\n```yaml\nupstreams:\n  api: {}\ngone: 1\n```\n"
	const want = "a.md:3: this is no configuration of the proxy:\nweir: a.md:5:8: upstreams.api.addresses is missing: want a list\nweir: a.md:6:1: gone is unknown"
	if err := r.checks(t.Context(), t.TempDir(), Blocks("a.md", document)[0]); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want an error that begins with %q", err, want)
	}
}

func badJSON(blocks []Block) (complaints []string) {
	for _, b := range blocks {
		if err := json.Unmarshal([]byte(b.Text), new(any)); err != nil {
			complaints = append(complaints, fmt.Sprintf("%s: %v", b.At(), err))
		}
	}
	return complaints
}

func TestJSONIsJSON(t *testing.T) {
	for _, complaint := range badJSON(blocksOf(t, "json")) {
		t.Error(complaint)
	}
	got := badJSON(Blocks("a.md", "```json\n{\"a\": 1}\n```\n```json\n{\"a\": }\n```\n"))
	if len(got) != 1 || !strings.HasPrefix(got[0], "a.md:4: invalid character '}'") {
		t.Errorf("got the complaints %q", got)
	}
}
