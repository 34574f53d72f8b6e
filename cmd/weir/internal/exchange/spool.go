package exchange

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"net/netip"
	"os"

	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/internal/quota"
)

// maxStore is the default bound on the size of all temporary files.
const maxStore = 1 << 30

// storeOf returns the bound on the size of all temporary files. The default leaves half of
// the free space to other programs. Files in memory may take as much as the buffers in
// memory.
func storeOf(c config.Buffers) int64 {
	if c.Store > 0 {
		return int64(c.Store)
	}
	free, inMemory := space(cmp.Or(c.Directory, os.TempDir()))
	if inMemory {
		free = min(free, 2*int64(c.Memory))
	}
	return min(maxStore, free/2)
}

// ofClient is the part of the store that one client may use: a quarter, or one body.
func (s *setting) ofClient() int64 { return max(s.store/4, int64(s.File)) }

// notStored describes a fault of the disk in the log. The request continues.
const notStored = "a body found no room in a file, and is sent on as it comes"

// spool reads the rest of the body into a temporary file. It reports whether the rest must be
// streamed, because the body is too long, no file can be created, or the store or the disk
// has no room.
func (x *exchange) spool() (stream bool, err error) {
	b := &x.body
	if x.File == 0 {
		return true, nil
	}
	file, err := x.shared.newFile(x.Directory)
	if err != nil {
		x.shared.onFault(notStored, err)
		return true, nil
	}
	x.shared.counts.files.Add(1)
	b.file = &spool{file: file, shared: x.shared, client: quota.AddressOf(x.who.Address)}
	page := copies.Get().(*[copySize]byte)
	defer copies.Put(page)
	for !b.done && !stream && err == nil {
		var n int
		n, err = b.rest.Read(page[:min(copySize, int64(x.File)-b.file.size)])
		if fault := b.file.write(page[:n], x.setting); fault != nil {
			if !errors.Is(fault, errStoreFull) {
				x.shared.onFault(notStored, fault)
			}
			last := bytes.NewReader(bytes.Clone(page[:n]))
			if errors.Is(err, io.EOF) { // the server may close the body before it is sent
				b.rest = last
			} else {
				b.rest = io.MultiReader(last, b.rest)
			}
			stream, err, b.asked = true, nil, true
			break
		}
		err = b.came(err)
		stream = !b.done && err == nil && b.file.size == int64(x.File)
	}
	if b.file.size == 0 { // there was no room for a file beside the upload
		b.file.close()
		b.file = nil
	}
	return stream, err
}

// mostAtDisk bounds the operations on temporary files at a time, because each blocked operation
// takes a thread of the system. While a disk hangs, clients could otherwise cause any number of
// threads.
const mostAtDisk = 64

// diskTurns holds a value for each operation that uses the disk.
type diskTurns chan struct{}

// take waits for a turn, and returns the function that ends the turn.
func (t diskTurns) take() (end func()) {
	t <- struct{}{}
	return func() { <-t }
}

func (s *Shared) newFile(directory string) (file, error) {
	defer s.disk.take()()
	return s.create(directory)
}

// A file is a temporary file, which is removed when it is closed.
type file interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
}

// createFile creates a temporary file with mode 0600. Its name is removed at once, so that a
// crash leaves no file behind.
func createFile(directory string) (file, error) {
	f, err := os.CreateTemp(directory, "weir-*")
	if err != nil {
		return nil, err
	}
	if os.Remove(f.Name()) == nil {
		return f, nil
	}
	return named{f}, nil
}

// A named file keeps its name while it is open, as on Windows.
type named struct{ *os.File }

func (n named) Close() error {
	return errors.Join(n.File.Close(), os.Remove(n.Name()))
}

// A spool is the part of a body that is in a temporary file.
type spool struct {
	file   file
	size   int64
	shared *Shared
	client netip.Addr
}

var errStoreFull = errors.New("no room in the store of bodies")

// write appends a whole page, or fails without changing the size.
func (s *spool) write(page []byte, set *setting) error {
	n := int64(len(page))
	if !s.shared.stored.Take(s.client, n, set.ofClient(), set.store) {
		return errStoreFull
	}
	if err := s.append(page); err != nil {
		s.shared.stored.Give(s.client, n)
		return err
	}
	s.size += n
	return nil
}

func (s *spool) append(page []byte) error {
	defer s.shared.disk.take()()
	_, err := s.file.WriteAt(page, s.size)
	return err
}

// readAt reads bytes of the body from an offset on. A file that is too short is an error.
func (s *spool) readAt(p []byte, offset int64) (int, error) {
	p = p[:min(int64(len(p)), s.size-offset)]
	n, err := s.file.ReadAt(p, offset)
	if n == len(p) {
		return n, nil
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

func (s *spool) close() {
	end := s.shared.disk.take()
	_ = s.file.Close()
	end()
	s.shared.stored.Give(s.client, s.size)
	s.shared.counts.files.Add(-1)
}
