package exchange

import (
	"maps"
	"net/http"
	"net/textproto"
	"sync"

	"github.com/weir-go/weir/internal/headers"
)

// early sends informational responses on to the client. It has a goroutine of its own, because a
// client that does not read must not hold the slot.
type early struct {
	mu      sync.Mutex
	over    bool          // the final response owns the writer
	waiting chan func()   // nil before the first
	sent    chan struct{} // closed after the last
}

// mostWaiting bounds the informational responses that wait for a client that does not read. The
// proxy drops further responses.
const mostWaiting = 8

func (e *early) add(send func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.over {
		return
	}
	if e.waiting == nil {
		e.waiting, e.sent = make(chan func(), mostWaiting), make(chan struct{})
		go sendAll(e.waiting, e.sent)
	}
	select {
	case e.waiting <- send:
	default:
	}
}

func sendAll(waiting <-chan func(), sent chan<- struct{}) {
	defer close(sent)
	for send := range waiting {
		send()
	}
}

// end waits until all informational responses are sent. From then on the final response owns the
// writer.
func (e *early) end() {
	e.mu.Lock()
	e.over = true
	if e.waiting != nil {
		close(e.waiting)
		e.waiting = nil
	}
	e.mu.Unlock()
	if e.sent != nil {
		<-e.sent
	}
}

// Informed sends an informational response on to the client, unless the client speaks HTTP/1.0,
// which has no such responses.
func (x *exchange) Informed(status int, header textproto.MIMEHeader) error {
	if x.in.ProtoAtLeast(1, 1) {
		x.early.add(func() { x.inform(status, http.Header(header)) })
	}
	return nil
}

// inform sends an informational response. net/http sends an expected 100 Continue at an unknown
// moment of the first read of the body. So that the two do not mix, inform delays that read, or
// during it sends a 100 Continue itself, after which net/http sends no other.
func (x *exchange) inform(status int, header http.Header) {
	if b := &x.body; x.in.ProtoMajor == 1 && x.in.Header["Expect"] != nil && !b.isAsked() {
		if b.turn.TryLock() {
			defer b.turn.Unlock()
		} else {
			x.w.WriteHeader(http.StatusContinue)
			b.setAsked()
		}
	}
	dropOwn(header)
	headers.RemoveHopByHop(header)
	h := x.w.Header()
	own := maps.Clone(h)
	addAll(h, header)
	// With this name, which it does not send, net/http sends a copy of the map by HTTP/2. It could
	// read the map itself even after a reset of the request, which ends WriteHeader
	// (golang/go#67940).
	h["Transfer-Encoding"] = nil
	x.w.WriteHeader(status)
	clear(h)
	maps.Copy(h, own)
}
