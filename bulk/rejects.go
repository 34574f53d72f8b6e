package bulk

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"unicode/utf8"
)

// reject is a rejected line as the file of rejects has it.
type reject struct {
	Line    int64  `json:"line"`
	Byte    int64  `json:"byte"` // of its first byte in the source
	Error   string `json:"error"`
	Text    string `json:"text,omitempty"`
	Data    []byte `json:"data,omitempty"`     // instead of a Text that is no UTF-8
	TooLong bool   `json:"too_long,omitempty"` // so that the text is only its beginning
}

// rejection is the line of the file of rejects, its end included.
func (p *pending) rejection(why error) []byte {
	r := reject{Line: p.Lines, Byte: p.Last, Error: why.Error(), TooLong: p.tooLong}
	if utf8.Valid(p.text) {
		r.Text = string(p.text)
	} else {
		r.Data = p.text
	}
	text, err := json.Marshal(r)
	if err != nil { // there is nothing in it that could fail
		panic(err)
	}
	return append(text, '\n')
}

// rejects is the file of rejects.
type rejects struct {
	file *os.File // nil if there is none
	size int64
}

// openRejects opens the file. What is in it behind the size that the journal knows is of lines that
// are to be read again.
func openRejects(name string, resumed bool, size int64) (r rejects, err error) {
	if name == "" {
		return r, nil
	}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return r, fmt.Errorf("bulk: rejects: %w", err)
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	end, err := f.Seek(0, io.SeekEnd)
	switch {
	case err != nil:
		return r, fmt.Errorf("bulk: rejects: %w", err)
	case !resumed:
		return rejects{f, end}, nil
	case end < size:
		return r, fmt.Errorf("%w: %s has %d bytes where the journal knows of %d: restore it, or remove both to start anew", ErrChanged, name, end, size)
	}
	if end > size {
		if err := f.Truncate(size); err != nil {
			return r, fmt.Errorf("bulk: rejects: %w", err)
		}
	}
	if _, err := f.Seek(size, io.SeekStart); err != nil {
		return r, fmt.Errorf("bulk: rejects: %w", err)
	}
	return rejects{f, size}, nil
}

func (r *rejects) append(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	n, err := r.file.Write(text)
	r.size += int64(n)
	if err == nil {
		err = r.file.Sync()
	}
	if err != nil {
		return fmt.Errorf("bulk: rejects: %w", err)
	}
	return nil
}

func (r *rejects) close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}
