package documents

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

// A Line is a command line in a document: a line of a block with its continuation lines, or a
// span of code.
type Line struct {
	At       string // file and line
	Dir      string // where it runs
	Language string // of the block; "" for a span, as for a block without a language
	Span     bool
	Text     string // without explanations
}

// A Command is a part of a line: a program and its arguments.
type Command struct {
	At, Dir string
	Words   []string
	All     bool // run by scripts/all: with all modules and all tests
}

// String returns the command with its place, for complaints.
func (c Command) String() string { return c.At + ": `" + strings.Join(c.Words, " ") + "`" }

// clone is the folder that git clone creates.
const clone = "weir"

// WithAll runs a command with all modules and all tests.
const WithAll = "scripts/all"

// Lines lists the command lines of a document. Its commands run in dir.
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

// explained removes an explanation after two blanks or a #.
func explained(line string) string {
	line, _, _ = strings.Cut(line, "  ")
	line, _, _ = strings.Cut(line, " #")
	return line
}

var span = regexp.MustCompile("`[^`]+`")

// Spoken lists the code in a line of prose: the whole line if it is indented, otherwise the
// text in backquotes.
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
	// shellToken matches a word, which may contain quoted parts, or the separator of two
	// commands.
	shellToken = regexp.MustCompile(`(?:[^\s'";&|]|'[^']*'|"[^"]*")+|[;&|]+`)
	assignment = regexp.MustCompile(`^[A-Z0-9_]+=`)
	quotes     = strings.NewReplacer("'", "", `"`, "")
)

// Commands parses a line as far as documents need it: sequences of commands, directories,
// variables. It returns the directory for the next line.
func Commands(at, dir, line string) (all []Command, next string) {
	c := Command{At: at, Dir: dir}
	end := func() {
		switch {
		case len(c.Words) == 2 && c.Words[0] == "cd":
			c.Dir = path.Clean(c.Words[1]) // relative to the root
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
		case len(c.Words) == 0 && assignment.MatchString(word): // an environment variable
		default:
			c.Words = append(c.Words, quotes.Replace(word))
		}
	}
	end()
	return all, c.Dir
}
