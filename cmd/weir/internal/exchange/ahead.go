package exchange

import (
	"errors"
	"io"
	"sync"
)

// ahead reads a body on a goroutine of its own, up to a bound further than its receiver.
type ahead struct {
	src   io.Reader
	bound int64
	over  func() error // is called whenever it turns out that the body does not fit; an error ends the body
	ended func(error)  // is called at the end of src, io.EOF if it is whole, before the receiver hears of it

	mu    sync.Mutex
	news  sync.Cond
	buf   buffer
	total int64
	err   error // the end of src
	mode  aheadMode
	full  bool   // the goroutine waits for the receiver
	gone  bool   // the goroutine is
	waste []byte // where to read what is dropped
}

type aheadMode uint8

const (
	keeping  aheadMode = iota
	dropping           // there is no receiver, but the upstream is to come to its end
	stopped
)

var errStopped = errors.New("the request is over")

// readAhead starts to read. It returns nil if there is no memory for that.
func readAhead(a *ahead, m *memory) *ahead {
	a.buf.memory, a.news.L = m, &a.mu
	if a.buf.room() == nil {
		return nil
	}
	go a.run()
	return a
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

// room returns where to read into, nil if there is nothing to read for. It waits for the receiver
// while the buffer is full or the memory is used up.
func (a *ahead) room() []byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	for a.mode == keeping {
		// One chunk above the bound: what follows may be only the end.
		if a.buf.size <= a.bound {
			if room := a.buf.room(); room != nil {
				a.full = false
				return room
			}
		}
		a.full = true
		a.news.Broadcast() // for failure
		a.news.Wait()
	}
	a.full = false
	if a.mode == stopped {
		return nil
	}
	if a.waste == nil {
		a.buf.free()
		a.waste = copies.Get()
	}
	return a.waste
}

// came takes in what was read, and returns the error that ends the body.
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

// drop has the body be read to its end for no receiver.
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

// close waits for the goroutine, and gives the memory back. Whoever reads on is told that it is
// over.
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
	a.err = errStopped // for a transport that reads on
}

// failure waits for the end of src, which is near because its sender is gone, and returns why it
// failed.
func (a *ahead) failure() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	for a.err == nil && !a.full { // there is no receiver
		a.news.Wait()
	}
	if errors.Is(a.err, io.EOF) || errors.Is(a.err, errStopped) {
		return nil
	}
	return a.err
}

// isWhole reports whether the end of src has come.
func (a *ahead) isWhole() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return errors.Is(a.err, io.EOF)
}

// size returns how much has come.
func (a *ahead) size() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.total
}
