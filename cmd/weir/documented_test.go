package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/weir-go/weir/internal/must"
)

// documented matches a weir command in a document, at the beginning of a line or in
// backquotes.
var documented = regexp.MustCompile("(?m)(?:^ *|`)((?:go run \\./cmd/)?weir (?:proxy|check|schema|demo|work|enqueue|jobs|sim|version|help)\\b[^`\n#|>]*)")

var (
	// shortened matches commands that omit a value or continue on the next line.
	// TestTracesPage runs them.
	shortened = regexp.MustCompile(`\.\.\.|\[|\\$| (?:--[a-z-]+|[A-Z]+)$`)
	// incomplete matches the errors of a command that prose only names.
	incomplete = regexp.MustCompile(`^expected |^missing flags`)
)

// TestDocumentedCommandsParse: the commands and flags in documents exist.
func TestDocumentedCommandsParse(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	if _, err := os.Stat(filepath.Join(root, "go.work")); errors.Is(err, fs.ErrNotExist) {
		t.Skip("this module is alone, without the documents")
	}
	found := 0
	must.Do(t, filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(name) != ".md" {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for _, match := range documented.FindAllStringSubmatch(string(text), -1) {
			command := strings.TrimSpace(strings.TrimPrefix(match[1], "go run ./cmd/"))
			if shortened.MatchString(command) {
				continue
			}
			found++
			parser, err := newParser(environmentOf(""), io.Discard, io.Discard, func(int) {})
			if err != nil {
				return err
			}
			if _, err := parser.Parse(arguments(command)); err != nil && !incomplete.MatchString(err.Error()) {
				t.Errorf("%s: %s: %v", name, command, err)
			}
		}
		return nil
	}))
	if found < 20 {
		t.Errorf("found %d commands in the documents, want 20 at least", found)
	}
}
