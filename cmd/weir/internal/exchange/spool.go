package exchange

import (
	"bytes"
	"io"
	"os"
)

// spool reads the rest of a body into a temporary file. If there is none to be had, or the disk
// fails, what is left is streamed.
func (x *exchange) spool(left int64) (stream bool, err error) {
	b := &x.body
	file, err := os.CreateTemp(x.directory, "weir-*")
	if err != nil {
		x.shared.onFault(err)
		return true, nil
	}
	_ = os.Remove(file.Name()) // its name, so that a crash leaves nothing
	x.shared.counts.files.Add(1)
	b.file = &spool{file: file, free: func() { x.shared.counts.files.Add(-1) }}
	page := copies.Get()
	defer copies.Put(page)
	written := int64(0)
	for left > 0 && err == nil {
		var n int
		n, err = b.rest.Read(page[:min(int64(len(page)), left)])
		left -= int64(n)
		m, fault := file.Write(page[:n])
		written += int64(m)
		if fault != nil {
			x.shared.onFault(fault)
			b.rest = io.MultiReader(bytes.NewReader(bytes.Clone(page[m:n])), b.rest)
			stream = true
			break
		}
	}
	b.file.SectionReader = io.NewSectionReader(file, 0, written)
	b.done = left == 0 && !stream
	if b.done || stream {
		return stream, nil
	}
	return false, short(err)
}

// A spool is a temporary file that has no name any more.
type spool struct {
	*io.SectionReader
	file *os.File
	free func()
}

func (s *spool) close() {
	_ = s.file.Close()
	s.free()
}
