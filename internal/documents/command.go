package documents

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

// A Line is what a document tells the reader to type: a line of a block, with those that it
// continues in, or a span of code.
type Line struct {
	At       string // file and line
	Dir      string // where it runs
	Language string // of the block; of a span, "" as of a block without one
	Span     bool
	Text     string // without what explains it
}

// A Command is a part of a line: a program and its arguments.
type Command struct {
	At, Dir string
	Words   []string
	All     bool // behind scripts/all: with all modules and all tests
}

// String is the command with its place, for complaints.
func (c Command) String() string { return c.At + ": `" + strings.Join(c.Words, " ") + "`" }

// clone is where git clone puts the repository.
const clone = "weir"

// WithAll runs a command with all modules and all tests.
const WithAll = "scripts/all"

// Lines lists those of a document, of which the commands run in dir.
func Lines(name, text, dir string) (lines []Line) {
	fenced, language, at := false, "", dir
	all := strings.Split(text, "\n")
	for i := 0; i < len(all); i++ {
		line, where := strings.TrimSpace(all[i]), fmt.Sprintf("%s:%d", name, i+1)
		switch {
		case strings.HasPrefix(line, fence):
			fenced, language, at = !fenced, strings.TrimPrefix(line, fence), dir
		case fenced:
			code := explained(line)
			for strings.ContainsAny(code[max(0, len(code)-1):], `\|`) && i+1 < len(all) {
				i++
				code = strings.TrimSuffix(code, `\`) + explained(strings.TrimSpace(all[i]))
			}
			lines = append(lines, Line{At: where, Dir: at, Language: language, Text: code})
			_, at = Commands(where, at, code)
		default:
			for _, code := range Spoken(all[i], "    ") {
				lines = append(lines, Line{At: where, Dir: dir, Span: true, Text: code})
			}
		}
	}
	return lines
}

// explained cuts off what follows two blanks or a #.
func explained(line string) string {
	line, _, _ = strings.Cut(line, "  ")
	line, _, _ = strings.Cut(line, " #")
	return line
}

var span = regexp.MustCompile("`[^`]+`")

// Spoken lists the code in a line of prose: all of it where it is indented, and what stands between
// backquotes.
func Spoken(line, indent string) (spans []string) {
	if code, ok := strings.CutPrefix(line, indent); ok {
		return []string{explained(strings.TrimSpace(code))}
	}
	for _, code := range span.FindAllString(line, -1) {
		spans = append(spans, explained(strings.TrimSpace(strings.Trim(code, "`"))))
	}
	return spans
}

var (
	// shellToken is a word, of which quotes may hold a part together, or what stands between two
	// commands.
	shellToken = regexp.MustCompile(`(?:[^\s'";&|]|'[^']*'|"[^"]*")+|[;&|]+`)
	assignment = regexp.MustCompile(`^[A-Z0-9_]+=`)
	quotes     = strings.NewReplacer("'", "", `"`, "")
)

// Commands takes a line apart, as far as documents need it: commands in a row, directories,
// variables. It returns the directory for the next line.
func Commands(at, dir, line string) (all []Command, next string) {
	c := Command{At: at, Dir: dir}
	end := func() {
		switch {
		case len(c.Words) == 2 && c.Words[0] == "cd":
			c.Dir = path.Clean(c.Words[1]) // documents start from the root
			if c.Dir == clone {
				c.Dir = "."
			}
		case len(c.Words) > 1 && c.Words[0] == WithAll:
			all = append(all, Command{at, c.Dir, c.Words[1:], true})
		case len(c.Words) > 0:
			all = append(all, c)
		}
		c.Words = nil
	}
	for _, word := range shellToken.FindAllString(line, -1) {
		switch {
		case strings.Trim(word, ";&|") == "":
			end()
		case len(c.Words) == 0 && assignment.MatchString(word): // of the environment
		default:
			c.Words = append(c.Words, quotes.Replace(word))
		}
	}
	end()
	return all, c.Dir
}
