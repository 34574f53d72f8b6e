package recording

import (
	"encoding/json"
	"fmt"
	"io"
)

// A Writer writes a recording. It is safe for one goroutine at a time.
type Writer struct {
	out      io.Writer
	readings int
}

// NewWriter writes the first line.
func NewWriter(out io.Writer) (*Writer, error) {
	w := &Writer{out: out}
	_, err := io.WriteString(out, heading)
	return w, err
}

// Write writes a message, unless a [Reader] would refuse it. Then the error says why, or full is
// true because the recording would have too many readings.
func (w *Writer) Write(m Message) (full bool, err error) {
	if err := m.check(); err != nil {
		return false, fmt.Errorf("the message %w", err)
	}
	if w.readings+m.size() > MostReadings {
		return true, nil
	}
	text, err := json.Marshal(m)
	if err != nil {
		return false, err
	}
	if len(text) >= longestLine {
		return false, fmt.Errorf("the message has %d bytes: want less than %d", len(text), longestLine)
	}
	w.readings += m.size()
	_, err = w.out.Write(append(text, '\n'))
	return false, err
}
