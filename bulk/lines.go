package bulk

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/weir-go/weir/memory"
)

const (
	readBuffer = 1 << 20
	keptOfLong = 4 << 10 // bytes of a line that is too long, for the file of rejects
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// mark identifies a line by its number, its place and its content.
type mark struct {
	Lines  int64  `json:"lines"`  // the number of the line
	Offset int64  `json:"offset"` // of the byte after the line
	Last   int64  `json:"last"`   // of the first byte of the line
	Sum    uint32 `json:"sum"`    // of the bytes of the line, CRC-32C
}

// pending is a line on its way.
type pending struct {
	mark
	text    []byte
	tooLong bool
	hold    memory.Hold // the bytes of memory that it took
}

// lines reads lines, and takes their bytes before it copies them.
type lines struct {
	src     *bufio.Reader
	maxLine int
	at      mark                                 // of the last line that was read
	take    func(bytes int) (memory.Hold, error) // waits for memory
}

// next returns the next line, or io.EOF. If the source fails in a line, that line is lost.
func (l *lines) next() (pending, error) {
	chunk, err := l.src.ReadSlice('\n')
	switch {
	case err == nil, errors.Is(err, io.EOF) && len(chunk) > 0:
		return l.short(chunk)
	case errors.Is(err, bufio.ErrBufferFull):
		return l.long(chunk)
	}
	return pending{}, l.failed(err)
}

func (l *lines) failed(err error) error {
	if errors.Is(err, io.EOF) {
		return io.EOF
	}
	return fmt.Errorf("bulk: the source failed after line %d, byte %d: %w", l.at.Lines, l.at.Offset, err)
}

// short reads a line that fits in the buffer.
func (l *lines) short(chunk []byte) (p pending, err error) {
	p.mark = l.at.next(int64(len(chunk)), crc32.Checksum(chunk, castagnoli))
	p.cut(withoutEnd(chunk), l.maxLine)
	if p.hold, err = l.take(len(p.text)); err != nil {
		return pending{}, err
	}
	p.text = bytes.Clone(p.text)
	l.at = p.mark
	return p, nil
}

// long reads a line that does not fit in the buffer. It takes the memory of the longest line,
// because the length is not known yet.
func (l *lines) long(chunk []byte) (p pending, err error) {
	if p.hold, err = l.take(l.maxLine); err != nil {
		return pending{}, err
	}
	length, sum := int64(0), uint32(0)
	for more := true; more; {
		length += int64(len(chunk))
		sum = crc32.Update(sum, castagnoli, chunk)
		if len(p.text) <= l.maxLine+len("\r\n") { // a longer text is too long in any case
			p.text = append(p.text, chunk...)
		}
		if length > endless*int64(l.maxLine) {
			p.hold.Release()
			return pending{}, fmt.Errorf("bulk: line %d, at byte %d, has no end within %d bytes: is the source made of lines?", l.at.Lines+1, l.at.Offset, length)
		}
		if chunk[len(chunk)-1] == '\n' {
			break
		}
		chunk, err = l.src.ReadSlice('\n')
		if more = len(chunk) > 0; err != nil && !errors.Is(err, bufio.ErrBufferFull) && !errors.Is(err, io.EOF) {
			p.hold.Release()
			return pending{}, l.failed(err)
		}
	}
	p.mark = l.at.next(length, sum)
	p.cut(withoutEnd(p.text), l.maxLine)
	l.at = p.mark
	return p, nil
}

// cut sets the text, or its beginning if it is too long.
func (p *pending) cut(text []byte, most int) {
	if p.tooLong = len(text) > most; p.tooLong {
		text = text[:min(len(text), keptOfLong)]
	}
	p.text = text
}

// next returns the mark of the following line. The length includes the end of the line.
func (m mark) next(length int64, sum uint32) mark {
	return mark{Lines: m.Lines + 1, Offset: m.Offset + length, Last: m.Offset, Sum: sum}
}

// withoutEnd returns a line without its \n or \r\n.
func withoutEnd(line []byte) []byte {
	text, ended := bytes.CutSuffix(line, []byte("\n"))
	if ended {
		text = bytes.TrimSuffix(text, []byte("\r"))
	}
	return text
}

// skip continues after a mark, and checks that the mark is of this source. If the source ended
// without a newline when the mark was made, and has a newline now, the returned mark includes the
// newline.
func skip(source stoppable, to mark) (mark, error) {
	if to.Lines == 0 {
		return to, nil
	}
	if n, err := discard(source, to.Last); err != nil {
		return to, fmt.Errorf("%w: it ends or fails at byte %d, before line %d: %w", ErrChanged, n, to.Lines, err)
	}
	sum, end := crc32.New(castagnoli), new(lastByte)
	n, err := io.CopyN(io.MultiWriter(sum, end), source, to.Offset-to.Last)
	if err != nil {
		return to, fmt.Errorf("%w: it ends or fails at byte %d, in line %d: %w", ErrChanged, to.Last+n, to.Lines, err)
	}
	if sum.Sum32() != to.Sum {
		return to, fmt.Errorf("%w: line %d, at byte %d, has another text", ErrChanged, to.Lines, to.Last)
	}
	if *end == '\n' {
		return to, nil
	}
	switch n, err := io.CopyN(end, source, 1); {
	case n == 0 && errors.Is(err, io.EOF):
		return to, nil
	case err != nil:
		return to, fmt.Errorf("bulk: the source failed after line %d, byte %d: %w", to.Lines, to.Offset, err)
	case *end != '\n':
		return to, fmt.Errorf("%w: line %d, at byte %d, had no end when it was imported, and has grown: "+
			"import sources that are whole", ErrChanged, to.Lines, to.Last)
	}
	to.Offset++
	return to, nil
}

// lastByte keeps the last byte that was written.
type lastByte byte

func (b *lastByte) Write(p []byte) (int, error) {
	if len(p) > 0 {
		*b = lastByte(p[len(p)-1])
	}
	return len(p), nil
}

// discard skips bytes. Some files, such as pipes, have a Seek that fails.
func discard(source stoppable, bytes int64) (n int64, err error) {
	if seeker, ok := source.Reader.(io.Seeker); ok {
		if _, err := seeker.Seek(bytes, io.SeekCurrent); err == nil {
			return bytes, nil
		}
	}
	return io.CopyN(io.Discard, source, bytes)
}

// A stoppable source fails once the import has stopped.
type stoppable struct {
	io.Reader
	stopped func() error // returns the reason, or nil
}

func (s stoppable) Read(p []byte) (int, error) {
	if err := s.stopped(); err != nil {
		return 0, err
	}
	return s.Reader.Read(p)
}
