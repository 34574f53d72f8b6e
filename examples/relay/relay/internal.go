package relay

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/weir-go/weir/bulk"
)

// Internal serves the operators of the relay, on a listener that the public cannot reach:
//
//	GET /metrics    for Prometheus
//	GET /health     200 while the relay is open
//	POST /import    events, one a line; the answer reports the progress as JSON lines
//	GET /           WebSocket without a rate, and not counted among the connections; its work goes before that of the public
//
// For an import, ?journal=NAME keeps a journal, so that the same source resumes after a
// kill, and ?trusted=true skips verification. Web pages are refused, because a browser on
// the same machine could reach the listener for them.
func (s *Server) Internal() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.counts.all, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /health", s.health)
	mux.HandleFunc("POST /import", s.serveImport)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if !isUpgrade(r) {
			s.inform(w, r)
			return
		}
		s.connect(w, r, true)
	})
	return http.NewCrossOriginProtection().Handler(mux)
}

func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	if !s.begin() {
		http.Error(w, "closed", http.StatusServiceUnavailable)
		return
	}
	s.work.Done()
	_, _ = fmt.Fprintln(w, "ok")
}

var errStopped = errors.New("relay: the relay is closing: run the import again, and it goes on from its journal")

var named = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$`)

// Named reports whether a journal may have the name: it must be the name of a file in the
// directory of imports.
func Named(journal string) bool { return named.MatchString(journal) }

// NameWanted describes the names that Named accepts.
const NameWanted = "1 to 64 letters, digits, dots, - or _, and no dot first"

// A line of the answer to an import.
type line struct {
	bulk.Snapshot        // as in bulk
	Done          bool   `json:",omitempty"` // in the last line, if the import is complete
	Error         string `json:",omitempty"` // in the last line, otherwise
}

func (s *Server) serveImport(w http.ResponseWriter, r *http.Request) {
	asked := r.URL.Query()
	journal := asked.Get("journal")
	name := cmp.Or(journal, "import")
	switch {
	case s.conf.Dir == "":
		http.Error(w, "this relay has no directory for imports: set Config.Dir", http.StatusNotImplemented)
		return
	case !Named(name):
		http.Error(w, fmt.Sprintf("journal is %q: want %s", name, NameWanted), http.StatusBadRequest)
		return
	case !s.begin():
		(&denial{http.StatusServiceUnavailable, comeBack, "the relay is closed"}).answer(w)
		return
	}
	defer s.work.Done()
	if _, running := s.imports.LoadOrStore(name, true); running {
		http.Error(w, fmt.Sprintf("an import with the journal %q runs: wait for its end, or choose another name", name), http.StatusConflict)
		return
	}
	release := sync.OnceFunc(func() { s.imports.Delete(name) })
	defer release()

	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	defer context.AfterFunc(s.closing, func() { cancel(errStopped) })()
	defer context.AfterFunc(ctx, func() { // a silent client must not delay the shutdown
		_ = http.NewResponseController(w).SetReadDeadline(time.Now())
	})()
	answer := newAnswer(w)
	i := Import{
		Trusted: asked.Get("trusted") == "true", Rejects: filepath.Join(s.conf.Dir, name+".rejects"),
		OnProgress: func(now bulk.Snapshot) { answer.send(line{Snapshot: now}) },
	}
	if journal != "" {
		i.Journal = filepath.Join(s.conf.Dir, name+".journal")
	}
	end, err := s.Import(ctx, r.Body, i)
	release() // before the last line: the client may go on with the same journal at once
	last := line{Snapshot: end, Done: err == nil}
	if err != nil {
		last.Error = err.Error()
	}
	answer.send(last)
	if err != nil && ctx.Err() == nil {
		drain(w, r)
	}
}

// drain discards the body for a second: a connection that is closed with unread bytes is reset, and
// the client loses the answer.
func drain(w http.ResponseWriter, r *http.Request) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(time.Second))
	_, _ = io.Copy(io.Discard, r.Body)
}

// An answer is sent line by line while the server still reads the request.
type answer struct {
	out   *json.Encoder
	flush func() error
}

// answerStall is the longest time to write a line. The client of an import may be busy
// sending.
const answerStall = time.Minute

func newAnswer(w http.ResponseWriter) *answer {
	control := http.NewResponseController(w)
	_ = control.EnableFullDuplex() // HTTP/2 needs no permission
	w.Header().Set("Content-Type", "application/jsonl")
	return &answer{json.NewEncoder(w), func() error {
		_ = control.SetWriteDeadline(time.Now().Add(answerStall))
		return control.Flush()
	}}
}

// send sends a line. If that fails, the client has left, and its source has ended too.
func (a *answer) send(l line) {
	if a.out.Encode(l) == nil {
		_ = a.flush()
	}
}
