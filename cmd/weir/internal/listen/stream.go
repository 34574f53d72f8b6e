package listen

import (
	"context"
	"net/http"
	"time"
)

// stream is the writer of an HTTP/2 response. Each stream has its own flow control: a client
// may read the connection but not the stream.
type stream struct {
	http.ResponseWriter
	conn    *conn
	control *http.ResponseController
	writing watch
	wasCut  bool
}

func (l *Listener) newStream(w http.ResponseWriter, c *conn) *stream {
	if most := l.live.Load().MaxResets; most > 0 && c.resets.Load() > int64(most) {
		w.Header().Set("Connection", "close") // net/http sends a GOAWAY for it
	}
	return &stream{ResponseWriter: w, conn: c, control: http.NewResponseController(w)}
}

// Write writes one frame at a time, so that the stall is measured per frame, whatever the
// handler writes at once.
func (s *stream) Write(p []byte) (n int, err error) {
	for {
		part := p[n:min(len(p), n+frameSize)]
		s.writing.begin(s.conn.readStall(), s)
		wrote, err := s.ResponseWriter.Write(part)
		s.writing.end()
		if n += wrote; err != nil || n >= len(p) {
			return n, err
		}
	}
}

// Flush sends the written data.
func (s *stream) Flush() { _ = s.FlushError() }

// FlushError sends the written data.
func (s *stream) FlushError() error {
	s.writing.begin(s.conn.readStall(), s)
	defer s.writing.end()
	return s.control.Flush()
}

// Unwrap returns the underlying writer for http.ResponseController.
func (s *stream) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// moved reports whether the stream waits for the connection, which has its own watch.
func (s *stream) moved() bool { return s.conn.writing.waiting() }

func (s *stream) cut() {
	s.wasCut = true
	s.conn.listener.tally(&s.conn.listener.counts.Stalled)
	_ = s.control.SetWriteDeadline(past)
}

// release stops watching the stream when its handler returns. The unsent data is less than a
// frame and has a deadline; while the connection is slow, release sends it.
func (s *stream) release(request context.Context) {
	stall := s.conn.readStall()
	if s.conn.writing.waiting() {
		_ = s.FlushError()
	}
	s.writing.close()
	if request.Err() != nil {
		s.reset()
	} else if stall > 0 {
		_ = s.control.SetWriteDeadline(time.Now().Add(stall))
	}
}

// reset counts a request that ended before its response, unless the proxy or the whole
// connection ended it.
func (s *stream) reset() {
	if s.wasCut || s.conn.gone.Load() || s.conn.closed.Load() {
		return
	}
	s.conn.resets.Add(1)
	s.conn.listener.tally(&s.conn.listener.counts.Resets)
}
