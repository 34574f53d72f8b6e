package command

import (
	"io"
	"os"
	"strings"
	"time"
	"unicode"
)

// These are bounds of the output: the bytes that are kept, the lines of them in an error, and the
// length of a line. A process that has left the group may keep the output open: the output is read
// for lateOutput more.
const (
	keptOutput = 4 << 10
	lastLines  = 5
	longLine   = 200
	lateOutput = time.Second
)

// An output keeps the last bytes that a command writes.
type output struct {
	file *os.File
	done chan struct{}
	kept []byte
}

func keep(file *os.File) *output {
	o := &output{file: file, done: make(chan struct{})}
	go func() {
		defer close(o.done)
		_, _ = io.Copy(o, file)
	}()
	return o
}

// Write implements [io.Writer].
func (o *output) Write(p []byte) (int, error) {
	o.kept = append(o.kept, p[max(0, len(p)-keptOutput):]...)
	o.kept = append(o.kept[:0], o.kept[max(0, len(o.kept)-keptOutput):]...)
	return len(p), nil
}

// end returns the last lines, once the processes that write have ended.
func (o *output) end() string {
	_ = o.file.SetReadDeadline(time.Now().Add(lateOutput))
	<-o.done
	o.file.Close()
	return last(string(o.kept))
}

// last returns the last lines of a text in one line, without control characters.
func last(text string) string {
	var lines []string
	for line := range strings.Lines(strings.ToValidUTF8(text, "?")) {
		line = strings.Map(Printable, strings.TrimSpace(line))
		if runes := []rune(line); len(runes) > longLine {
			line = string(runes[:longLine]) + "..."
		}
		if line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines[max(0, len(lines)-lastLines):], " | ")
}

// Printable returns a replacement for a control character, and any other character as it is: a text
// may be from any program.
func Printable(r rune) rune {
	switch {
	case r == '\t':
		return ' '
	case !unicode.IsPrint(r):
		return '?'
	}
	return r
}
