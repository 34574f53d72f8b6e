package bulk

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"unicode/utf8"
)

type reject struct {
	Line    int64  `json:"line"`
	Byte    int64  `json:"byte"` // of the line's first byte in the source
	Error   string `json:"error"`
	Text    string `json:"text,omitempty"`
	Data    []byte `json:"data,omitempty"`     // instead of Text, if that is not UTF-8
	TooLong bool   `json:"too_long,omitempty"` // the text is only the beginning of the line
}

// rejection returns the line for the file of rejects, with its end.
func (p *pending) rejection(why error) []byte {
	r := reject{Line: p.Lines, Byte: p.Last, Error: why.Error(), TooLong: p.tooLong}
	if utf8.Valid(p.text) {
		r.Text = string(p.text)
	} else {
		r.Data = p.text
	}
	text, err := json.Marshal(r)
	if err != nil { // no field could fail
		panic(err)
	}
	return append(text, '\n')
}

type rejects struct {
	file *os.File // nil if there is none
	name string   // the path of the file, from the folder of the journal
	size int64    // of the file, also if this run has none: a later run may
}

// openRejects opens the file for appending. It removes the bytes past the journaled size, because
// their lines are read again. It does so only if the size is the size of this file: otherwise it
// would cut lines of another import.
func openRejects(path, journal string, from state) (rejects, error) {
	if path == "" {
		return rejects{name: from.RejectsName, size: from.Rejects}, nil
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return rejects{}, fmt.Errorf("bulk: rejects: %w", err)
	}
	name, size := fromFolderOf(journal, path), from.Rejects
	end, err := f.Seek(0, io.SeekEnd)
	switch {
	case err != nil || name != from.RejectsName:
		size = end
	case end < size:
		return rejects{}, errors.Join(fmt.Errorf("%w: %s has %d bytes where the journal knows of %d: restore it, or remove both to start anew", ErrChanged, path, end, size), f.Close())
	case end > size:
		err = f.Truncate(size)
	}
	if err == nil {
		_, err = f.Seek(size, io.SeekStart)
	}
	if err != nil {
		return rejects{}, errors.Join(fmt.Errorf("bulk: rejects: %w", err), f.Close())
	}
	return rejects{f, name, size}, nil
}

// fromFolderOf returns the path of the rejects from the folder of the journal, so that both may be
// moved together, and a file of the same name in another folder counts as another file.
func fromFolderOf(journal, rejects string) string {
	if linked, err := filepath.EvalSymlinks(rejects); err == nil { // as makeJournal does
		rejects = linked
	}
	folder, _ := filepath.Abs(filepath.Dir(journal))
	file, _ := filepath.Abs(rejects)
	if path, err := filepath.Rel(folder, file); err == nil {
		return path
	}
	return file // on another volume
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
