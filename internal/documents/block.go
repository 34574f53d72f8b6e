package documents

import (
	"fmt"
	"io/fs"
	"strings"
)

// A Block is the text between two fences.
type Block struct {
	Document string
	Line     int    // of its first fence
	Language string // such as "go"
	Text     string // without the indentation of the fence
	Hidden   string // from the comment above, which readers do not see: <!-- go: var db *sql.DB -->
	hiddenAt int    // its line
}

// At returns the place of the block.
func (b Block) At() string { return fmt.Sprintf("%s:%d", b.Document, b.Line) }

const fence = "```"

// Blocks lists the blocks of a document.
func Blocks(name, text string) (blocks []Block) {
	var comment Block // the comment above, if any
	open := -1        // index of the block that contains the line
	indent := ""
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		line := strings.TrimLeft(lines[i], " \t")
		switch {
		case open >= 0 && strings.HasPrefix(line, fence):
			open = -1
		case open >= 0:
			blocks[open].Text += strings.TrimPrefix(lines[i], indent) + "\n"
		case strings.HasPrefix(line, fence):
			indent = strings.TrimSuffix(lines[i], line)
			comment.Document, comment.Line, comment.Language = name, i+1, strings.TrimSpace(strings.TrimPrefix(line, fence))
			blocks = append(blocks, comment)
			open, comment = len(blocks)-1, Block{}
		case strings.HasPrefix(line, "<!--"):
			first := i
			for !strings.Contains(lines[i], "-->") && i+1 < len(lines) {
				i++
			}
			comment = Block{Hidden: hidden(strings.Join(lines[first:i+1], "\n")), hiddenAt: first + 1}
		case line != "":
			comment = Block{}
		}
	}
	return blocks
}

// hidden returns a comment's declarations for the block of Go below it.
func hidden(comment string) string {
	text, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(comment), "<!--"), "-->")
	code, ok := strings.CutPrefix(strings.TrimSpace(text), "go:")
	if !ok {
		return ""
	}
	return code
}

// Read returns the documents for readers by name. It omits the documents of the benchmarks,
// the decisions and the changelog, which show the code at the time of writing.
func Read(fsys fs.FS) (map[string]string, error) {
	documents := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/results/*.md", "examples/*/README.md"} {
		names, err := fs.Glob(fsys, pattern)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if name == "CHANGELOG.md" {
				continue
			}
			text, err := fs.ReadFile(fsys, name)
			if err != nil {
				return nil, err
			}
			documents[name] = string(text)
		}
	}
	return documents, nil
}
