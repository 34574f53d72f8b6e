// Command upstream is the server behind the proxies of a trial.
//
//	upstream -listen 127.0.0.1:9000 -workers 20 -work 50ms-100ms
//
//	/work           takes one of the workers, in the order of arrival, and keeps it for a time of the range: a queued
//	                request is served even if its client leaves
//	/bytes?n=1024   n bytes
//	/echo           the body of the request
//	/slow?for=1s    a chunk at once and one at the end
//	/events         an event each 100 ms, until the client leaves
//	/socket         a WebSocket that sends no messages
//	/-/speed?of=0.3 from now on work runs at 30% of its speed
//	/-/seen         how often each value of the header Trial-Id was seen, as JSON
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"os/signal"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:9000", "address to serve on")
	workers := flag.Int("workers", 20, "requests to /work that run at once")
	work := flag.String("work", "50ms-100ms", "how long one takes")
	flag.Parse()
	least, most, err := span(*work)
	if err != nil {
		log.Fatal(err)
	}
	stop, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer cancel()

	s := &server{workers: make(chan struct{}, *workers), least: least, most: most}
	s.slowness.Store(1.0)
	server := &http.Server{Addr: *listen, Handler: s.handler(), Protocols: new(http.Protocols)}
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetUnencryptedHTTP2(true)
	go func() {
		<-stop.Done()
		server.Close()
	}()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		log.Fatal(err)
	}
}

// span reads a range of durations, such as 50ms-100ms.
func span(text string) (least, most time.Duration, err error) {
	from, to, found := strings.Cut(text, "-")
	if !found {
		to = from
	}
	if least, err = time.ParseDuration(from); err == nil {
		most, err = time.ParseDuration(to)
	}
	if err == nil && (least <= 0 || most < least) {
		err = fmt.Errorf("-work %q: want a range such as 50ms-100ms", text)
	}
	return least, most, err
}

type server struct {
	workers     chan struct{}
	least, most time.Duration
	slowness    atomic.Value // float64: work takes so many times as long
	seen        seen
}

func (s *server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/work", s.work)
	mux.HandleFunc("/bytes", sized)
	mux.HandleFunc("/echo", echo)
	mux.HandleFunc("/slow", slow)
	mux.HandleFunc("/events", events)
	mux.HandleFunc("/socket", socket)
	mux.HandleFunc("/ready", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/-/speed", s.setSpeed)
	mux.Handle("/-/seen", &s.seen)
	return s.seen.count(mux)
}

// work behaves like a pool of threads: the queue is unbounded, and a worker does not check
// whether the client is still there.
func (s *server) work(w http.ResponseWriter, r *http.Request) {
	s.workers <- struct{}{}
	_, _ = io.Copy(io.Discard, r.Body) // a thread for each request waits for its body
	takes := s.least + time.Duration(rand.Int64N(int64(s.most-s.least)+1))
	time.Sleep(time.Duration(float64(takes) * s.slowness.Load().(float64)))
	<-s.workers
	fmt.Fprint(w, "done\n")
}

func (s *server) setSpeed(w http.ResponseWriter, r *http.Request) {
	speed, err := strconv.ParseFloat(r.FormValue("of"), 64)
	if err != nil || !(speed > 0 && speed <= 1) {
		http.Error(w, "of: want a share of the speed, such as 0.3", http.StatusBadRequest)
		return
	}
	s.slowness.Store(1 / speed)
}

// page is the source of all response bodies.
var page = []byte(strings.Repeat("0123456789abcdef", 4096))

func sized(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.FormValue("n"))
	if err != nil || n < 0 {
		http.Error(w, "n: want a number of bytes", http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Length", strconv.Itoa(n))
	w.Header().Set("Content-Type", "application/octet-stream")
	for n > 0 {
		written, err := w.Write(page[:min(n, len(page))])
		if err != nil {
			return
		}
		n -= written
	}
}

// echo answers while it reads, which net/http must be configured for.
func echo(w http.ResponseWriter, r *http.Request) {
	_ = http.NewResponseController(w).EnableFullDuplex() // not needed by HTTP/2
	_, _ = io.Copy(w, r.Body)                            // on an error the client sees the early end
}

func slow(w http.ResponseWriter, r *http.Request) {
	wait, err := time.ParseDuration(r.FormValue("for"))
	if err != nil {
		http.Error(w, "for: want a time such as 1s", http.StatusBadRequest)
		return
	}
	fmt.Fprint(w, "begun\n")
	_ = http.NewResponseController(w).Flush()
	select {
	case <-time.After(wait):
		fmt.Fprint(w, "ended\n")
	case <-r.Context().Done():
	}
}

func events(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for n := 0; ; n++ {
		fmt.Fprintf(w, "data: %d\n\n", n)
		if http.NewResponseController(w).Flush() != nil {
			return
		}
		select {
		case <-tick.C:
		case <-r.Context().Done():
			return
		}
	}
}

// socket opens a WebSocket with the example key of RFC 6455, and waits until the client
// closes it.
func socket(w http.ResponseWriter, _ *http.Request) {
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer conn.Close()
	fmt.Fprint(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n")
	_, _ = io.Copy(io.Discard, buffered) // ends when the client leaves
}
