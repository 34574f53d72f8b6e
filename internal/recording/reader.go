package recording

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// heading is the first line. It has the version of the format.
const heading = `{"weir":"recording","version":1}` + "\n"

const (
	// MostReadings is how many readings, changes, columns and requests a recording has at most, of
	// all limiters together: 12 hours of 20 limiters.
	MostReadings = 2_000_000

	longestLine = 4 << 20 // bytes: an hour of one limiter is less than one MB
)

// A Reader reads a recording. Its errors name the line.
type Reader struct {
	in       *bufio.Reader
	line     int
	readings int
}

// NewReader reads the first line.
func NewReader(in io.Reader) (*Reader, error) {
	r := &Reader{in: bufio.NewReaderSize(in, 1<<16), line: 1}
	first := make([]byte, len(heading))
	switch n, err := io.ReadFull(r.in, first); {
	case n == 0 && errors.Is(err, io.EOF):
		return nil, errors.New("the recording is empty: want a file of weir record")
	case err != nil && !errors.Is(err, io.ErrUnexpectedEOF):
		return nil, err
	case string(first) != heading:
		return nil, errors.New("line 1: is not a recording of this version of weir, which begins with " + strings.TrimSpace(heading))
	}
	return r, nil
}

// Next returns the next message. The error after the last message wraps io.EOF.
func (r *Reader) Next() (m Message, err error) {
	r.line++
	text, err := r.text()
	if err == nil {
		m, err = decode(text)
	}
	if r.readings += m.size(); r.readings > MostReadings {
		err = fmt.Errorf("more than %d readings: want a shorter recording", MostReadings)
	}
	if err != nil {
		return m, fmt.Errorf("line %d: %w", r.line, err)
	}
	return m, nil
}

func (r *Reader) text() (line []byte, err error) {
	for {
		part, err := r.in.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > longestLine:
			return nil, fmt.Errorf("longer than %d bytes", longestLine)
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(line) > 0:
			return nil, errors.New("is cut off: want it removed, or the rest of the file")
		}
		return line, err
	}
}

// decode reads a line of JSON without unknown members.
func decode(line []byte) (m Message, err error) {
	in := json.NewDecoder(bytes.NewReader(line))
	in.DisallowUnknownFields()
	if err := in.Decode(&m); err != nil && !errors.Is(err, io.EOF) { // io.EOF for an empty line
		return m, err
	}
	if _, more := in.Token(); !errors.Is(more, io.EOF) {
		return m, errors.New("has more than one value")
	}
	return m, m.check()
}

// Parse reads an event of a dashboard, and checks it as a [Reader] does. known is false for an
// event that is no message.
func Parse(event string, data []byte) (m Message, known bool, err error) {
	if !slices.Contains([]string{"overview", "details", "requests"}, event) {
		return m, false, nil
	}
	if err = json.Unmarshal(fmt.Appendf(nil, "{%q:%s}", event, data), &m); err == nil {
		err = m.check()
	}
	if err != nil {
		return m, true, fmt.Errorf("%s of the dashboard: %w", event, err)
	}
	return m, true, nil
}
