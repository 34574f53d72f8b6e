package exchange

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

func TestStoppedDeadlineEndsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls, own := 0, make(chan *deadline, 1)
		d := newDeadline(time.Minute, func(bool) {
			calls++
			d := <-own
			if d.mu.TryLock() {
				t.Error("stop does not wait for the end")
				d.mu.Unlock()
			}
			own <- d
		})
		own <- d
		time.Sleep(time.Hour)
		d.stop()
		d.timer.Reset(0) // as if it had expired just before
		time.Sleep(time.Hour)
		if calls != 1 {
			t.Errorf("%d calls, want 1", calls)
		}
	})
}

// A transport waits for the read of a body that it takes no more of, and holds the slot meanwhile.
// HTTP/1 needs a while for that, because the server takes a client for gone at the end of its read.
func TestAbandonedBodyEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for version, want := range map[int]time.Duration{1: linger, 2: 0} {
			w := new(deadlined)
			b := intake{client: &http.Request{ProtoMajor: version}, control: http.NewResponseController(w)}
			if b.abandon(); time.Until(w.at) != want {
				t.Errorf("HTTP/%d: the read ends in %v, want %v", version, time.Until(w.at), want)
			}
		}
	})
}

// deadlined keeps the deadline of reads.
type deadlined struct {
	http.ResponseWriter
	at time.Time
}

func (d *deadlined) SetReadDeadline(at time.Time) error { d.at = at; return nil }
