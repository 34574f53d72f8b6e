package jobs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var goBlock = regexp.MustCompile("(?s)(-->\n)?```go\n(.*?)```")

// TestDocumentShowsTheExamples holds the code of docs/jobs.md to the examples here, which are
// compiled and run.
func TestDocumentShowsTheExamples(t *testing.T) {
	document, err := os.ReadFile("../../docs/jobs.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("example_*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var code strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		code.Write(text)
	}
	shown := 0
	for _, block := range goBlock.FindAllStringSubmatch(string(document), -1) {
		compiled := block[1] != ""                          // by the tests of all documents, with the comment before it
		if compiled || strings.Count(block[2], "\n") == 1 { // or of a module that has examples of its own
			continue
		}
		for part := range strings.SplitSeq(block[2], "\n\n") {
			shown++
			if !strings.Contains(code.String(), strings.TrimSpace(part)) {
				t.Errorf("docs/jobs.md shows what no example has:\n%s", part)
			}
		}
	}
	if shown != 3 {
		t.Errorf("docs/jobs.md shows %d functions and variables, want 3", shown)
	}
}
