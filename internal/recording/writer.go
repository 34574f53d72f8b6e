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
	return w, w.line(header{kind, Version})
}

// Write writes a message. A message that a [Reader] would refuse is an error, and is not written:
// full says that it is one too many.
func (w *Writer) Write(m Message) (full bool, err error) {
	if err := m.check(); err != nil {
		return false, fmt.Errorf("the message %w", err)
	}
	if w.readings+m.size() > MostReadings {
		return true, nil
	}
	w.readings += m.size()
	return false, w.line(m)
}

func (w *Writer) line(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = w.out.Write(append(text, '\n'))
	return err
}
