package pool

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/weir-go/weir/internal/isolate"
	"github.com/weir-go/weir/law"
)

// A shield is between a law and the workers that measure for it: when a window closes it asks the
// law on a goroutine of its own, so that a law which panics or ends its goroutine holds its size,
// and takes no worker with it.
type shield struct {
	law    law.Law
	failed atomic.Pointer[error] // why the law failed since it was last asked for
}

// Controller implements [law.Law].
func (s *shield) Controller(b law.Bounds) (law.Controller, error) {
	c, err := s.law.Controller(b)
	if err == nil && c == nil {
		err = fmt.Errorf("%T returned no controller and no error: want one", s.law)
	}
	return shielded{s, c}, err
}

// failure returns why the law failed since the last call, nil if it did not.
func (s *shield) failure() error {
	if err := s.failed.Swap(nil); err != nil {
		return *err
	}
	return nil
}

type shielded struct {
	*shield
	control law.Controller
}

// Next implements [law.Controller].
func (s shielded) Next(w law.Window) (d law.Decision) {
	if err := isolated(func() { d = s.control.Next(w) }); err != nil {
		err = fmt.Errorf("%w: %T: %w", ErrScaler, s.law, err)
		s.failed.Store(&err)
		return law.Decision{Limit: float64(w.Limit)}
	}
	return d
}

// isolated calls code of a user on a goroutine of its own and waits for it. A panic or the end of
// that goroutine is an error of this package.
func isolated(call func()) error {
	err := isolate.Call(call)
	if p := new(isolate.PanicError); errors.As(err, &p) {
		return &PanicError{p.Value, p.Stack}
	}
	if err != nil {
		return ErrExited
	}
	return nil
}
