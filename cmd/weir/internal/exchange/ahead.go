package exchange

import (
	"errors"
	"io"
	"sync"
)

// ahead reads a body on its own goroutine, up to bound bytes ahead of the receiver.
type ahead struct {
	src   io.Reader
	bound int64
	over  func() error // called whenever the body does not fit; an error ends the body
	ended func(error)  // called at the end of src, with io.EOF if it is whole, before the receiver sees the end

	mu    sync.Mutex
	news  sync.Cond
	buf   buffer
	total int64
	err   error // the end of src
	mode  aheadMode
	gone  bool            // the goroutine has ended
	waste *[copySize]byte // for dropped bytes
}

type aheadMode uint8

const (
	keeping  aheadMode = iota
	dropping           // there is no receiver, but the upstream should finish
	stopped
)

var errStopped = errors.New("the request is over")

// start starts reading. It reports false if there is no memory.
func (a *ahead) start(m *memory) bool {
	a.buf.memory, a.news.L = m, &a.mu
	if a.buf.room() == nil {
		return false
	}
	go a.run()
	return true
}

func (a *ahead) run() {
	for {
		room := a.room()
		if room == nil {
			a.end(errStopped)
			return
		}
		n, err := a.src.Read(room)
		if err = a.came(n, err); err != nil {
			a.end(err)
			return
		}
	}
}

// room returns a buffer to read into, or nil if reading should stop. It waits for the
// receiver while the buffer is full or the memory is used up.
func (a *ahead) room() []byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	for a.mode == keeping {
		// One chunk above the bound, because only the end of the body may follow.
		if a.buf.size <= a.bound {
			if room := a.buf.room(); room != nil {
				return room
			}
		}
		a.news.Wait()
	}
	if a.mode == stopped {
		return nil
	}
	if a.waste == nil {
		a.buf.free()
		a.waste = copies.Get().(*[copySize]byte)
	}
	return a.waste[:]
}

// came records the result of a read, and returns the error that ends the body.
func (a *ahead) came(n int, err error) error {
	a.mu.Lock()
	a.total += int64(n)
	if a.waste == nil {
		a.buf.filled(n)
	}
	fits := a.total <= a.bound && (a.waste != nil || a.buf.room() != nil)
	a.news.Broadcast()
	a.mu.Unlock()
	if err == nil && !fits {
		return a.over()
	}
	return err
}

func (a *ahead) end(err error) {
	a.ended(err)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.err, a.gone = err, true
	a.news.Broadcast()
}

func (a *ahead) Read(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for a.buf.size == 0 && a.err == nil && a.mode == keeping {
		a.news.Wait()
	}
	n := a.buf.read(p)
	a.news.Broadcast()
	switch {
	case a.buf.size > 0:
		return n, nil
	case a.err == nil && a.mode != keeping:
		return n, errStopped
	}
	return n, a.err
}

// drop drains and discards the body.
func (a *ahead) drop() { a.setMode(dropping) }

func (a *ahead) isDropped() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.mode == dropping
}

// stop ends the reading as soon as src returns.
func (a *ahead) stop() { a.setMode(stopped) }

func (a *ahead) setMode(m aheadMode) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.mode = m
	a.news.Broadcast()
}

// close waits for the goroutine and frees the memory. Later reads return errStopped.
func (a *ahead) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for !a.gone {
		a.news.Wait()
	}
	a.buf.free()
	if a.waste != nil {
		copies.Put(a.waste)
		a.waste = nil
	}
	a.err = errStopped // for a transport that keeps reading
}

// handOver waits for the goroutine, and returns the bytes that it has read.
func (a *ahead) handOver() buffer {
	a.mu.Lock()
	defer a.mu.Unlock()
	for !a.gone {
		a.news.Wait()
	}
	return a.buf
}

// isWhole reports whether src has been read to its end.
func (a *ahead) isWhole() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return errors.Is(a.err, io.EOF)
}

// isReady reports whether a Read would not wait. It is false for a nil ahead.
func (a *ahead) isReady() bool {
	if a == nil {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.buf.size > 0 || a.err != nil
}

func (a *ahead) size() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.total
}
