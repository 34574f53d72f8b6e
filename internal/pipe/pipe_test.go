package pipe_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/fleet"
	"github.com/weir-go/weir/fleet/storetest"
	"github.com/weir-go/weir/internal/pipe"
)

// served serves a store and returns the user's end; stop ends the pipe from the user to the server.
func served(store fleet.Store) (user *pipe.Store, stop func(), ended chan error) {
	requests, asks := io.Pipe()
	answers, answering := io.Pipe()
	ended = make(chan error, 1)
	go func() {
		ended <- pipe.Serve(store, requests, answering)
		answering.Close()
	}()
	user = pipe.New(answers, asks)
	go func() { _ = user.Run() }()
	return user, func() { asks.Close() }, ended
}

func TestStore(t *testing.T) {
	storetest.Test(t, func(t *testing.T) fleet.Store {
		user, stop, _ := served(storetest.NewMemory())
		t.Cleanup(stop)
		return user
	})
}

func TestErrorsOfTheStoreAreTheUsers(t *testing.T) {
	store := storetest.NewMemory()
	user, stop, _ := served(store)
	defer stop()
	store.Fail(true)
	for _, err := range []error{
		user.Write(t.Context(), fleet.Write{Key: "a", Value: []byte("1")}),
		user.Watch(t.Context(), "", func(fleet.Entry) {}),
	} {
		if err == nil || err.Error() != storetest.ErrDown.Error() {
			t.Errorf("%v, want %v", err, storetest.ErrDown)
		}
	}
}

// Once the server has gone, calls fail, also calls that wait.
func TestServerDies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, answering := io.Pipe()
		out, asks := io.Pipe()
		user := pipe.New(in, asks)
		go func() { _, _ = io.Copy(io.Discard, out) }()
		watch, run := make(chan error, 1), make(chan error, 1)
		go func() { run <- user.Run() }()
		go func() { watch <- user.Watch(t.Context(), "", func(fleet.Entry) {}) }()
		synctest.Wait()
		answering.Close()
		out.Close()
		for _, err := range []error{<-watch, <-run, user.Write(t.Context(), fleet.Write{Key: "a"})} {
			if err == nil || !strings.Contains(err.Error(), "has gone") {
				t.Errorf("%v, want that it has gone", err)
			}
		}
	})
}

// Once the user has gone, the server ends its calls.
func TestUserDies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &counted{Memory: storetest.NewMemory()}
		user, stop, ended := served(store)
		go func() { _ = user.Watch(t.Context(), "", func(fleet.Entry) {}) }()
		synctest.Wait()
		stop()
		if err := <-ended; err != nil || store.watches != 0 {
			t.Errorf("the server ended with %v and %d watches", err, store.watches)
		}
	})
}

// A server that answers nothing, and reads nothing, holds up no call for longer than its context.
func TestServerHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, answering := io.Pipe()
		out, asks := io.Pipe()
		user := pipe.New(in, asks)
		go func() { _ = user.Run() }()
		for range 3 {
			ctx, stop := context.WithTimeout(t.Context(), time.Second)
			if err := user.Write(ctx, fleet.Write{Key: "a", Value: []byte("1")}); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%v, want that its time was over", err)
			}
			stop()
		}
		out.Close()
		answering.Close()
	})
}

// A watch that its user ends, ends at the server.
func TestWatchIsStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &counted{Memory: storetest.NewMemory()}
		user, stop, _ := served(store)
		defer stop()
		ctx, end := context.WithCancel(t.Context())
		go func() { _ = user.Watch(ctx, "", func(fleet.Entry) {}) }()
		synctest.Wait()
		if store.watches != 1 {
			t.Fatalf("%d watches, want 1", store.watches)
		}
		end()
		synctest.Wait()
		if store.watches != 0 {
			t.Errorf("%d watches after the end, want 0", store.watches)
		}
	})
}

// A counted store counts its watches.
type counted struct {
	*storetest.Memory
	watches int
}

func (c *counted) Watch(ctx context.Context, key string, see func(fleet.Entry)) error {
	c.watches++
	defer func() { c.watches-- }()
	return c.Memory.Watch(ctx, key, see)
}

// Frames that are no call have an error, and text that is no frame ends the server.
func TestForeignFrames(t *testing.T) {
	for text, want := range map[string]string{
		`{"call":1}`:                   `{"call":1,"end":true,"err":"pipe: a call without`,
		`{"call":1,"stop":true}`:       "",
		`{"call":1,"write":{"Key":3}}`: "",
	} {
		var out strings.Builder
		err := pipe.Serve(storetest.NewMemory(), strings.NewReader(text), &out)
		if !strings.HasPrefix(out.String(), want) || (err != nil) != strings.Contains(text, "3") {
			t.Errorf("%s: %q, %v", text, out.String(), err)
		}
	}
}
