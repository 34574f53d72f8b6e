package pipe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/weir-go/weir/fleet"
)

// A Store is the [fleet.Store] that the other process serves. Make one with [New]. It is safe for
// concurrent use.
type Store struct {
	in   io.Reader
	to   io.Writer
	out  chan frame
	done chan struct{}
	err  error // why the pipe ended, once done is closed

	mu    sync.Mutex
	calls map[uint64]call
	last  uint64
}

// A call waits for frames of the server until its context ends.
type call struct {
	ctx     context.Context //nolint:containedctx // of the caller, which waits
	answers chan frame
}

// New returns a store whose calls wait for [Store.Run].
func New(in io.Reader, out io.Writer) *Store {
	return &Store{in: in, to: out, out: make(chan frame), done: make(chan struct{}), calls: map[uint64]call{}}
}

// Run carries the calls until the server ends, and returns an error with the reason. From then on
// all calls fail.
func (s *Store) Run() error {
	go s.write()
	s.err = fmt.Errorf("pipe: the store's process has gone: %w", s.read())
	close(s.done)
	return s.err
}

// Write applies a write.
func (s *Store) Write(ctx context.Context, w fleet.Write) error {
	return s.do(ctx, frame{Write: &w}, nil)
}

// Watch calls see with each entry below a key, and with each change.
func (s *Store) Watch(ctx context.Context, key string, see func(fleet.Entry)) error {
	return s.do(ctx, frame{Watch: &key}, see)
}

func (s *Store) do(ctx context.Context, f frame, see func(fleet.Entry)) error {
	c := call{ctx, make(chan frame)}
	f.Call = s.enter(c)
	defer s.leave(f.Call)
	if err := s.send(ctx, f); err != nil {
		return err
	}
	for {
		select {
		case answer := <-c.answers:
			switch {
			case answer.Entry != nil && see != nil:
				see(*answer.Entry)
			case answer.Err != "":
				return errors.New(answer.Err)
			case answer.End:
				return nil
			}
		case <-ctx.Done():
			go func() { _ = s.send(context.Background(), frame{Call: f.Call, Stop: true}) }()
			return ctx.Err()
		case <-s.done:
			return s.err
		}
	}
}

func (s *Store) enter(c call) (number uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	s.calls[s.last] = c
	return s.last
}

func (s *Store) leave(number uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.calls, number)
}

// send sends a frame. While the pipe is full, it waits until ctx ends.
func (s *Store) send(ctx context.Context, f frame) error {
	select {
	case s.out <- f:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-s.done:
		return s.err
	}
}

func (s *Store) write() {
	frames := json.NewEncoder(s.to)
	for {
		select {
		case f := <-s.out:
			_ = frames.Encode(f) // fails once the server has gone, and then its frames end too
		case <-s.done:
			return
		}
	}
}

// read hands on the answers until the pipe ends, and returns the error of that end.
func (s *Store) read() error {
	for frames := json.NewDecoder(s.in); ; {
		var f frame
		if err := frames.Decode(&f); err != nil {
			return err
		}
		s.mu.Lock()
		c, waits := s.calls[f.Call]
		s.mu.Unlock()
		if !waits {
			continue
		}
		select {
		case c.answers <- f:
		case <-c.ctx.Done():
		}
	}
}
