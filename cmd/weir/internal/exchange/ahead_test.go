package exchange

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"
)

// A body that finds no more memory waits for its receiver. A call of failure must not wait
// for both.
func TestFailureOfABodyWithoutMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m memory
		m.bound.Store(firstChunk)
		a := &ahead{
			src: strings.NewReader(strings.Repeat("x", 2*firstChunk)), bound: 10 * firstChunk,
			over: func() error { return nil }, ended: func(error) {},
		}
		a.start(&m)
		synctest.Wait()
		if err := a.failure(); err != nil {
			t.Errorf("failure: %v, want none", err)
		}
		if n, err := io.Copy(io.Discard, a); n != 2*firstChunk || err != nil {
			t.Errorf("read %d bytes, %v, want %d", n, err, 2*firstChunk)
		}
		a.close()
		if used := m.used.Load(); used != 0 {
			t.Errorf("%d bytes are still taken", used)
		}
	})
}
