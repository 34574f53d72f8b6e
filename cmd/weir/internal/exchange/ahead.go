package exchange

import (
	"io"
	"sync"
)

// ahead reads a response on its own goroutine, up to bound bytes ahead of the client.
type ahead struct {
	src   io.Reader
	bound int64
	over  func() error // called whenever the body does not fit; an error ends the body
	ended func(error)  // called at the end of src, with io.EOF if it is whole, before the client sees the end

	mu    sync.Mutex
	news  sync.Cond
	buf   buffer
	total int64
	err   error // the error that ended src and the goroutine
	mode  aheadMode
	waste *[copySize]byte // for dropped bytes
}

type aheadMode uint8

const (
	keeping  aheadMode = iota
	dropping           // there is no client, but the upstream should finish
	stopped            // as soon as src returns
)

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
			a.finish(errOver)
			return
		}
		n, err := a.src.Read(room)
		if err = a.came(n, err); err != nil {
			a.finish(err)
			return
		}
	}
}

// room returns a buffer to read into, or nil if reading should stop. It waits for the
// client while the buffer is full or the memory is used up.
func (a *ahead) room() []byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	for a.mode == keeping {
		// With exactly bound bytes another read gets room, because it may find the end of the body.
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

func (a *ahead) finish(err error) {
	a.ended(err)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.err = err
	a.news.Broadcast()
}

func (a *ahead) Read(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for a.buf.size == 0 && a.err == nil {
		a.news.Wait()
	}
	n := a.buf.read(p)
	a.news.Broadcast()
	if a.buf.size > 0 {
		return n, nil
	}
	return n, a.err
}

func (a *ahead) isDropped() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.mode == dropping
}

// end stops the reading, or drains and discards the rest. It waits for the goroutine, and frees the
// memory.
func (a *ahead) end(mode aheadMode) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.mode = mode
	a.news.Broadcast()
	for a.err == nil {
		a.news.Wait()
	}
	a.buf.free()
	if a.waste != nil {
		copies.Put(a.waste)
		a.waste = nil
	}
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
