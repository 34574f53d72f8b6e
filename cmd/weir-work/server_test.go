//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/handover"
	"github.com/weir-go/weir/internal/longtest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/tcptest"
	"github.com/weir-go/weir/pool/natspool"
)

// TestServerRestarts: a worker of a server elsewhere says once that it waits, and goes on when the
// server is back, even if that took no credentials for a while.
func TestServerRestarts(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "server")
	server, url := serve(t, dir)
	at := handover.Queue{Stream: "orders", Nats: url}
	said(t, handover.Request{Enqueue: &handover.Enqueue{Queue: at, Payload: []string{"a"}}}, "")
	done := t.TempDir()
	way, work := passOn(t, dir), script(at, `read job; : >`+done+`/$job`)
	work.Nats = way.url(url)
	w := begin(t, work)
	is := func(job string) func() bool {
		return func() bool { _, err := os.Stat(filepath.Join(done, job)); return err == nil }
	}
	must.Happen(t, "a job is done", is("a"))
	must.Do(t, server.Close())
	must.Happen(t, "the worker says that it waits", func() bool { return strings.Contains(w.notes.String(), "waits for NATS") })
	usual := readAccess(t, dir)
	access{usual.Port, "another"}.write(t, dir)
	server, _ = serve(t, dir)
	tried := way.taken.Load()
	must.Happen(t, "the worker tries some more times", func() bool { return way.taken.Load() > tried+2 })
	must.Do(t, server.Close())
	usual.write(t, dir)
	_, again := serve(t, dir)
	if again != url {
		t.Skipf("another program has taken the port: %s is now %s", url, again)
	}
	must.Happen(t, "the worker says that the server is back", func() bool { return strings.HasSuffix(w.notes.String(), "the source is back\n") })
	said(t, handover.Request{Enqueue: &handover.Enqueue{Queue: at, Payload: []string{"b"}}}, "")
	must.Happen(t, "a job is done after that", is("b"))
	w.stop(t)
	if n := strings.Count(w.notes.String(), "waits for NATS"); n != 1 {
		t.Errorf("it says %d times that it waits:\n%s", n, &w.notes)
	}
}

// TestServerIsGone: a worker whose connection is silent, as when the machine of its server is gone,
// finds a server that answers before its leases are over.
func TestServerIsGone(t *testing.T) {
	longtest.Skip(t)
	dir := filepath.Join(t.TempDir(), "server")
	_, url := serve(t, dir)
	at := handover.Queue{Stream: "orders", Nats: url}
	done := t.TempDir()
	work := script(at, `read job; : >`+done+`/$job`)
	way := passOn(t, dir)
	work.Nats = way.url(url)
	w := begin(t, work)
	happens := func(job string) {
		said(t, handover.Request{Enqueue: &handover.Enqueue{Queue: at, Payload: []string{job}}}, "")
		must.Happen(t, job+" is done", func() bool { _, err := os.Stat(filepath.Join(done, job)); return err == nil })
	}
	happens("a")
	taken := way.taken.Load()
	way.silent.Store(taken)
	began := time.Now()
	must.Happen(t, "the worker connects again", func() bool { return way.taken.Load() > taken })
	happens("b")
	if took := time.Since(began); took > 29*time.Second {
		t.Errorf("the worker is back after %v", took)
	}
	w.stop(t)
}

// TestLostAnswer: a command asks again for an answer that is lost, as where the server ends with
// its process, and nothing is done twice.
func TestLostAnswer(t *testing.T) {
	longtest.Skip(t)
	for lost, ask := range map[string]func(handover.Queue) handover.Request{
		"$JS.API.CONSUMER.INFO": func(at handover.Queue) handover.Request {
			return handover.Request{Jobs: &handover.Jobs{Queue: at}}
		},
		"PUB weir.jobs.": func(at handover.Queue) handover.Request {
			return handover.Request{Enqueue: &handover.Enqueue{Queue: at, Payload: []string{"second"}}}
		},
		"$JS.API.STREAM.MSG.DELETE": func(at handover.Queue) handover.Request {
			return handover.Request{Requeue: &handover.Requeue{Queue: at, All: true}}
		},
	} {
		t.Run(lost, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "server")
			_, url := serve(t, dir)
			at := handover.Queue{Stream: "orders", Nats: url}
			said(t, handover.Request{Enqueue: &handover.Enqueue{Queue: at, Payload: []string{"first"}}}, "")
			reject := script(at, "exit 65")
			jobs := func() string { return said(t, handover.Request{Jobs: &handover.Jobs{Queue: at}}, "") }
			w := begin(t, reject)
			must.Happen(t, "a dead letter", func() bool { return strings.Contains(jobs(), " 1 dead letter\n") })
			w.stop(t)

			way := passOn(t, dir)
			way.lose.Store(&lost)
			request := ask(handover.Queue{Stream: "orders", Nats: way.url(url)})
			said(t, request, "")
			if way.lose.Load() != nil {
				t.Fatal("no answer was lost")
			}
			want := "\n0 waiting, 0 running or resting before another attempt, 1 dead letter\n"
			switch {
			case request.Enqueue != nil:
				want = "\n1 waiting, 0 running or resting before another attempt, 1 dead letter\n"
			case request.Requeue != nil:
				want = "\n1 waiting, 0 running or resting before another attempt, 0 dead letters\n"
			}
			if got := jobs(); !strings.Contains(got, want) {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}

// A way passes connections on to the server of a folder.
type way struct {
	address string
	taken   atomic.Int32 // connections
	silent  atomic.Int32 // how many of these have become silent, without an end

	lose atomic.Pointer[string] // the answer to the first request with this text
}

func passOn(t *testing.T, dir string) *way {
	w := new(way)
	w.address = tcptest.Serve(t, func(conn net.Conn) {
		number := w.taken.Add(1)
		server, err := net.Dial("tcp", fmt.Sprint("127.0.0.1:", readAccess(t, dir).Port))
		if err != nil {
			return // it is down
		}
		defer server.Close()
		var asked atomic.Bool
		go func() { _, _ = io.Copy(server, requests{line{conn, w, number}, &asked}) }()
		_, _ = io.Copy(conn, answers{line{server, w, number}, &asked})
	})
	return w
}

// url is that of the server, by this way.
func (w *way) url(direct string) string {
	user, _, _ := strings.Cut(direct, "@")
	return user + "@" + w.address
}

// A line is an end of a connection.
type line struct {
	net.Conn
	*way
	number int32
}

func (l line) Read(p []byte) (int, error) {
	n, err := l.Conn.Read(p)
	if l.number <= l.silent.Load() {
		select {}
	}
	return n, err
}

// Requests are on their way to a server, and notice the one whose answer is to be lost.
type requests struct {
	line
	lost *atomic.Bool
}

func (r requests) Read(p []byte) (int, error) {
	n, err := r.line.Read(p)
	if text := r.lose.Load(); text != nil && bytes.Contains(p[:n], []byte(*text)) {
		r.lose.Store(nil)
		r.lost.Store(true)
	}
	return n, err
}

// Answers are on their way from a server.
type answers struct {
	line
	lost *atomic.Bool
}

func (a answers) Read(p []byte) (int, error) {
	n, err := a.line.Read(p)
	if a.lost.CompareAndSwap(true, false) {
		return a.line.Read(p)
	}
	return n, err
}

// serve runs a server until the test ends.
func serve(t *testing.T, dir string) (server *natspool.Local, url string) {
	t.Helper()
	server = must.Have(natspool.Open(t.Context(), dir))(t)
	t.Cleanup(func() { _ = server.Close() })
	a := readAccess(t, dir)
	return server, fmt.Sprintf("nats://%s@127.0.0.1:%d", a.Token, a.Port)
}

// An access is how to reach the server of a folder.
type access struct {
	Port  int    `json:"port"`
	Token string `json:"token"`
}

func readAccess(t *testing.T, dir string) (a access) {
	t.Helper()
	must.Do(t, json.Unmarshal(must.Have(os.ReadFile(filepath.Join(dir, "access.json")))(t), &a))
	return a
}

func (a access) write(t *testing.T, dir string) {
	t.Helper()
	must.Do(t, os.WriteFile(filepath.Join(dir, "access.json"), must.Have(json.Marshal(a))(t), 0o600))
}
