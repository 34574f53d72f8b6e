package pipe

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/weir-go/weir/fleet"
)

// Serve runs the calls that it reads from in. It returns nil at the end of in, and an error if it
// cannot read a frame.
func Serve(store fleet.Store, in io.Reader, out io.Writer) error {
	ctx, stop := context.WithCancel(context.Background())
	s := &server{store: store, out: json.NewEncoder(out), calls: map[uint64]context.CancelFunc{}}
	defer s.running.Wait()
	defer stop()
	for frames := json.NewDecoder(in); ; {
		var f frame
		if err := frames.Decode(&f); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if f.Stop {
			s.stop(f.Call)
			continue
		}
		called := s.begin(ctx, f.Call)
		s.running.Go(func() { s.end(f.Call, s.run(called, f)) })
	}
}

type server struct {
	store   fleet.Store
	running sync.WaitGroup

	mu    sync.Mutex
	out   *json.Encoder
	calls map[uint64]context.CancelFunc
}

func (s *server) run(ctx context.Context, f frame) error {
	switch {
	case f.Write != nil:
		return s.store.Write(ctx, *f.Write)
	case f.Watch != nil:
		return s.store.Watch(ctx, *f.Watch, func(e fleet.Entry) { s.send(frame{Call: f.Call, Entry: &e}) })
	}
	return errors.New("pipe: a call without a write or a watch: want weir and weir-fleet of one version")
}

func (s *server) begin(ctx context.Context, call uint64) context.Context {
	ctx, stop := context.WithCancel(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[call] = stop
	return ctx
}

func (s *server) stop(call uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if stop := s.calls[call]; stop != nil {
		stop()
		delete(s.calls, call)
	}
}

func (s *server) end(call uint64, err error) {
	f := frame{Call: call, End: true}
	if err != nil {
		f.Err = err.Error()
	}
	s.send(f)
	s.stop(call)
}

func (s *server) send(f frame) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.out.Encode(f) // fails once the user has gone, and then its frames end too
}
