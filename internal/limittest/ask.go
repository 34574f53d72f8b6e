package limittest

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
)

// An Answer is the result of a request for a permit, and its time.
type Answer struct {
	Permit weir.Permit
	Err    error
	After  time.Duration
}

// Ask calls acquire on a goroutine of its own, and returns once that call waits or has its answer.
// Ask works only in a testing/synctest bubble, and so do the functions that take its answer.
func Ask(acquire func() (weir.Permit, error)) <-chan Answer {
	c := make(chan Answer, 1)
	began := time.Now()
	go func() {
		permit, err := acquire()
		c <- Answer{permit, err, time.Since(began)}
	}()
	synctest.Wait()
	return c
}

// Now returns the answer, which must be there.
func Now(t testing.TB, c <-chan Answer) Answer {
	t.Helper()
	synctest.Wait()
	select {
	case a := <-c:
		return a
	default:
		t.Fatal("no answer yet")
		panic("unreachable")
	}
}

// Admitted returns the permit of a request, which must be answered.
func Admitted(t testing.TB, c <-chan Answer) weir.Permit {
	t.Helper()
	a := Now(t, c)
	if a.Err != nil {
		t.Fatalf("not admitted: %v", a.Err)
	}
	return a.Permit
}

// Waits fails the test if there is an answer.
func Waits(t testing.TB, c <-chan Answer) {
	t.Helper()
	synctest.Wait()
	if len(c) > 0 {
		t.Fatalf("does not wait: got %+v", <-c)
	}
}

// Unwind calls f on a goroutine of its own. It returns the value of its panic, and whether f
// returned, which it does not after a panic or runtime.Goexit.
func Unwind(f func()) (recovered any, returned bool) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { recovered = recover() }()
		f()
		returned = true
	}()
	<-done
	return recovered, returned
}
