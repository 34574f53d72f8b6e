package pool

import (
	"errors"

	"github.com/weir-go/weir/internal/isolate"
)

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
