package exchange

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/internal/must"
)

// A disk is a disk for tests, with files in memory.
type disk struct {
	write, read func() error // called before each operation, and may block or fail; may be nil
	room        int64        // total size in bytes; writes beyond it fail
	used        atomic.Int64
	open        atomic.Int64 // files
}

func (d *disk) create(string) (file, error) {
	d.open.Add(1)
	return &diskFile{disk: d}, nil
}

type diskFile struct {
	disk *disk
	mu   sync.Mutex
	data []byte
}

// WriteAt writes as many bytes as fit, like a full disk.
func (f *diskFile) WriteAt(p []byte, at int64) (int, error) {
	if f.disk.write != nil {
		if err := f.disk.write(); err != nil {
			return 0, err
		}
	}
	n := len(p)
	if over := f.disk.used.Add(int64(n)) - f.disk.room; over > 0 {
		n = max(0, n-int(over))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.data = append(f.data[:at], p[:n]...)
	if n < len(p) {
		return n, &fs.PathError{Op: "write", Path: "weir-1", Err: syscall.ENOSPC}
	}
	return n, nil
}

func (f *diskFile) ReadAt(p []byte, at int64) (int, error) {
	if f.disk.read != nil {
		if err := f.disk.read(); err != nil {
			return 0, err
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	n := copy(p, f.data[min(at, int64(len(f.data))):])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *diskFile) Close() error {
	f.disk.open.Add(-1)
	return nil
}

// Bodies without room stream, and arrive whole: on a store of a few bytes, on a disk that is
// or becomes full, and in a folder that cannot be written.
func TestNoRoomForBodies(t *testing.T) {
	refuse := func(err error) func(string) (file, error) {
		return func(string) (file, error) {
			return nil, &fs.PathError{Op: "open", Path: "weir-1", Err: err}
		}
	}
	for name, c := range map[string]struct {
		change  func(*config.Config)
		create  func(string) (file, error)
		faults  bool // faults are reported
		anyRoom bool // one of the bodies has room
	}{
		"a store of 10 bytes":      {change: func(c *config.Config) { c.Buffers.Store = 10 }},
		"no files":                 {change: func(c *config.Config) { c.Buffers.File = 0 }},
		"full":                     {create: (&disk{}).create, faults: true},
		"full after a few bytes":   {create: (&disk{room: 10}).create, faults: true},
		"full after a few pages":   {create: (&disk{room: 90_000}).create, faults: true},
		"a folder to read only":    {create: refuse(syscall.EROFS), faults: true},
		"no more files":            {create: refuse(syscall.EMFILE), faults: true},
		"a folder that is a file":  {change: func(c *config.Config) { c.Buffers.Directory = ordinary(t) }, faults: true},
		"a folder that is no more": {change: func(c *config.Config) { os.Remove(c.Buffers.Directory) }, faults: true},
	} {
		for _, known := range []bool{true, false} {
			t.Run(fmt.Sprint(name, " known ", known), func(t *testing.T) {
				rg := newRig(t, 8, false, echo, func(s *config.Config, _ *config.Route) {
					if c.change != nil {
						c.change(s)
					}
				})
				if c.create != nil {
					rg.shared.create = c.create
				}
				text := strings.Repeat("0123456789", 20_000)
				for range 2 {
					body := bodyOf(text, known)
					status, got, err := read(rg.client(false).Post(rg.front.URL, "text/plain", body))
					if status != 200 || got != text || err != nil {
						t.Errorf("status %d, %d bytes, error %v", status, len(got), err)
					}
				}
				rg.idle()
				if c := rg.shared.Counts(); c.Streamed != 2 {
					t.Errorf("%+v", c)
				}
				if (len(rg.faults) == 2) != c.faults {
					t.Errorf("faults %v", rg.faults)
				}
			})
		}
	}
}

// ordinary returns the name of a file.
func ordinary(t *testing.T) string {
	name := filepath.Join(t.TempDir(), "file")
	must.Do(t, os.WriteFile(name, nil, 0o600))
	return name
}

// While a disk is slow, requests that do not need it proceed, and any number of requests that
// wait for it hold no slot, and few threads. Their clients may leave meanwhile.
func TestSlowDisk(t *testing.T) {
	const crowd = 2 * (mostAtDisk + 20)
	moves := make(chan struct{})
	var writing atomic.Int64
	d := &disk{room: 1 << 40, write: func() error {
		writing.Add(1)
		defer writing.Add(-1)
		<-moves
		return nil
	}}
	rg := newRig(t, 4, false, echo, nil)
	move := sync.OnceFunc(func() { close(moves) })
	t.Cleanup(move)
	rg.shared.create = d.create
	var stay []*bufio.Reader
	for i := range crowd {
		conn, answers := rg.dial("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\n" + strings.Repeat("x", 100_000))
		if i%2 == 0 {
			stay = append(stay, answers)
			continue
		}
		rg.until("it waits for the disk", func() bool { return d.open.Load() > 0 })
		conn.Close()
	}
	rg.until("all wait for the disk", func() bool { return d.open.Load() >= mostAtDisk })
	client := rg.client(false)
	for _, size := range []int{0, 10, 60_000} {
		for range 20 {
			status, got, err := read(client.Post(rg.front.URL, "", strings.NewReader(strings.Repeat("x", size))))
			if status != 200 || len(got) != size || err != nil {
				t.Fatalf("%d bytes beside them: status %d, error %v", size, status, err)
			}
		}
	}
	if n := rg.inFlight(); n != 0 {
		t.Errorf("%d slots wait for the disk", n)
	}
	if n := writing.Load(); n > mostAtDisk {
		t.Errorf("%d threads wait for the disk", n)
	}
	move()
	for _, answers := range stay {
		rg.answer(answers, http.StatusOK)
	}
	rg.front.CloseClientConnections()
	rg.idle()
	if n := d.open.Load(); n != 0 {
		t.Errorf("%d files are open", n)
	}
}

// A disk whose reads hang does not hold the slot beyond the route's timeout.
func TestDiskThatIsNotRead(t *testing.T) {
	moves := make(chan struct{})
	d := &disk{room: 1 << 40, read: func() error { <-moves; return syscall.EIO }}
	rg := newRig(t, 1, false, echo, func(_ *config.Config, r *config.Route) { r.Timeout = config.Duration(timeout) })
	move := sync.OnceFunc(func() { close(moves) })
	t.Cleanup(move)
	rg.shared.create = d.create
	_, answers := rg.dial("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\n" + strings.Repeat("x", 100_000))
	rg.until("the slot is taken", func() bool { return rg.inFlight() == 1 })
	rg.until("the slot is free", func() bool { return rg.inFlight() == 0 })
	if status, _, err := rg.get("/"); status != 200 || err != nil {
		t.Errorf("status %d, %v", status, err)
	}
	move()
	rg.answer(answers, http.StatusGatewayTimeout)
	rg.idle()
}

// An upstream gets a whole body or an error: a disk's lost bytes are not the end of a body.
func TestDiskThatLosesABody(t *testing.T) {
	whole := make(chan bool, 1)
	d := &disk{room: 1 << 40, read: func() error { return syscall.EIO }}
	rg := newRig(t, 1, false, func(_ http.ResponseWriter, r *http.Request) {
		_, err := io.Copy(io.Discard, r.Body)
		whole <- err == nil
	}, nil)
	rg.shared.create = d.create
	body := io.MultiReader(strings.NewReader(strings.Repeat("x", 100_000))) // of unknown length
	status, _, err := read(rg.client(false).Post(rg.front.URL, "", body))
	if status != http.StatusBadGateway || err != nil {
		t.Errorf("status %d, %v, want 502", status, err)
	}
	rg.idle()
	if n := rg.blamed(); n != 0 {
		t.Errorf("%d failures of the upstream", n)
	}
	select {
	case w := <-whole:
		if w {
			t.Error("the upstream took half a body for a whole one")
		}
	case <-time.After(0):
	}
}
