package exchange

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/weirhttp"
)

// A response that gets no stream slot is replaced, or broken off if it has begun.
func TestNoStreamForAResponse(t *testing.T) {
	for query, want := range map[string]int{"length=1&size=100000": 503, "size=1000000": 200, "events=1": 503} {
		rg := newRig(t, 2, false, func(w http.ResponseWriter, r *http.Request) {
			if r.FormValue("events") != "" {
				w.Header().Set("Content-Type", "text/event-stream")
			}
			say(w, r)
		}, func(c *config.Config, _ *config.Route) { c.Streams.Max, c.Streams.Events = 1, 1 })
		taken := limittest.Fill(t, rg.shared.streams)
		takenEvents := limittest.Fill(t, rg.shared.events)
		res := must.Have(rg.client(false).Get(rg.front.URL + "?" + query))(t)
		_, err := io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode != want || (err != nil) != (want == 200) {
			t.Errorf("%s: status %d, error %v", query, res.StatusCode, err)
		}
		if res.Header.Get("Retry-After") != "" || res.Header.Get(weirhttp.RefusedHeader) != "" {
			t.Errorf("%s: clients would repeat what was done: %v", query, res.Header)
		}
		taken()
		takenEvents()
		rg.taught(limittest.Taught{Succeeded: 1})
		if c := rg.shared.Counts(); c.NoStream != 1 || len(rg.faults) > 0 {
			t.Errorf("%s: %+v, faults %v", query, c, rg.faults)
		}
	}
}

func TestRefusals(t *testing.T) {
	rg := newRig(t, 1, false, echo, nil)
	rg.lim.Close()
	for _, text := range []string{"GET / HTTP/1.1\r\nHost: h\r\n\r\n", upgrade} {
		_, answers := rg.dial(text)
		res := rg.answer(answers, http.StatusServiceUnavailable)
		if res.Header.Get("Retry-After") == "" || res.Header.Get(weirhttp.RefusedHeader) != "closed" {
			t.Errorf("%q: %v", text, res.Header)
		}
	}
	rg.idle()
	if c := rg.shared.Counts(); c.Refused["closed"] != 2 || c.Streamed != 0 {
		t.Errorf("%+v", c)
	}
}

// upgrade asks for another protocol, in which the upstream that upgrades echoes.
const upgrade = "GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"

func upgrades(w http.ResponseWriter, _ *http.Request) {
	conn, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
	_, _ = io.Copy(conn, rw)
}

func TestUpgrade(t *testing.T) {
	t.Parallel()
	rg := newRig(t, 1, false, upgrades, func(c *config.Config, r *config.Route) {
		c.Streams.WebSockets, r.Timeout = 1, config.Duration(timeout)
	})
	conn, answers := rg.dial(upgrade)
	rg.answer(answers, 101)
	if n := rg.inFlight(); n != 0 {
		t.Errorf("%d in flight", n)
	}
	_, other := rg.dial(upgrade)
	rg.answer(other, 503)
	<-time.After(timeout + timeout/5) // the timeout does not apply to upgraded connections
	_, _ = io.WriteString(conn, "hello")
	got := make([]byte, 5)
	if _, err := io.ReadFull(answers, got); err != nil || string(got) != "hello" {
		t.Errorf("%q, %v", got, err)
	}
	rg.end()
	if _, err := answers.ReadByte(); err == nil {
		t.Error("the connection outlived the proxy")
	}
	rg.idle()
}

// Bytes of the new protocol that a client sends together with the request for it are not lost.
func TestUpgradeOfAnEagerClient(t *testing.T) {
	rg := newRig(t, 1, false, upgrades, nil)
	conn, answers := rg.dial(upgrade + "early, ")
	rg.answer(answers, 101)
	_, _ = io.WriteString(conn, "late")
	_ = conn.(*net.TCPConn).CloseWrite()
	if got, err := io.ReadAll(answers); err != nil || string(got) != "early, late" {
		t.Errorf("%q, %v", got, err)
	}
}

// A request that keeps its protocol takes a slot of the gate, whose law learns from it, whatever
// it asks for. Clients could otherwise have their work done beside the limit, or eject the
// addresses of an upstream of HTTP/2, for which a transport refuses to ask for an upgrade. Java's
// client and curl --http2 offer h2c with any request, and Apache's client TLS.
func TestUpgradesThatAreRequests(t *testing.T) {
	const body = "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
	for asked, c := range map[string]struct {
		h2c  bool
		want string
	}{
		"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n": {false, "[] [] [] hello"},
		"Connection: Upgrade\r\nUpgrade: TLS/1.2\r\n":                                                 {false, "[] [] [] hello"},
		"Connection: Upgrade\r\nUpgrade: websocket\r\n":                                               {false, "[Upgrade] [websocket] [] hello"},
		"Connection: Upgrade\r\nUpgrade: echo\r\n":                                                    {true, "[] [] [] hello"},
	} {
		var rg *rig
		rg = newRig(t, 1, c.h2c, func(w http.ResponseWriter, r *http.Request) {
			if n, sockets := rg.inFlight(), rg.shared.sockets.Snapshot().InFlight; n != 1 || sockets != 0 {
				t.Errorf("%q: %d in flight and %d WebSockets, want 1 and none", asked, n, sockets)
			}
			fmt.Fprint(w, r.Header["Connection"], r.Header["Upgrade"], r.Header["Http2-Settings"], " ")
			_, _ = io.Copy(w, r.Body)
		}, nil)
		_, answers := rg.dial("POST / HTTP/1.1\r\nHost: h\r\n" + asked + body)
		if status, got, err := read(http.ReadResponse(answers, nil)); status != 200 || got != c.want || err != nil {
			t.Errorf("%q: status %d, the upstream received %q, %v", asked, status, got, err)
		}
		rg.taught(limittest.Taught{Succeeded: 1})
		if n := rg.blamed(); n != 0 {
			t.Errorf("%q: the upstream was blamed for %d requests", asked, n)
		}
	}
}

func TestMaxBody(t *testing.T) {
	for _, known := range []bool{true, false} {
		for _, size := range []int{100_000, 100_001} {
			rg := newRig(t, 1, false, echo, func(_ *config.Config, r *config.Route) { r.MaxBody = 100_000 })
			body := bodyOf(strings.Repeat("x", size), known)
			status, _, err := read(rg.client(false).Post(rg.front.URL, "text/plain", body))
			if want := map[int]int{100_000: 200, 100_001: 413}[size]; status != want {
				t.Errorf("known %v, %d bytes: status %d, error %v, want %d", known, size, status, err, want)
			}
			rg.idle()
			if s := rg.lim.Snapshot(); s.Failed != 0 {
				t.Errorf("the client's mistake is a failure: %+v", s)
			}
		}
	}
}

// The end of a body that is too long is found on the goroutine of a transport, which must not
// change the header of the response: the race detector sees most such changes.
func TestMaxBodyBesideInformationalResponses(t *testing.T) {
	rg := newRig(t, 1, false, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.CopyN(io.Discard, r.Body, 5)
		w.WriteHeader(http.StatusEarlyHints)
		_, _ = io.Copy(io.Discard, r.Body)
	}, func(_ *config.Config, r *config.Route) { r.MaxBody, r.Body = 10, bodyStreams })
	rg.shared.pause = time.Millisecond
	conn, answers := rg.dial("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
	rg.answer(answers, http.StatusEarlyHints)
	must.Have(io.WriteString(conn, "6\r\nlonger\r\n"))(t)
	rg.answer(answers, http.StatusRequestEntityTooLarge)
}

// The server closes the body of a request when it begins to answer. A transport that then
// reads more ends the connection to the upstream, and with it the answer.
func TestNothingIsReadBeyondTheLength(t *testing.T) {
	rg := newRig(t, 1, false, echo, nil)
	rg.wrap = func(r *http.Request) io.ReadCloser { return &exact{r.Body, r.ContentLength} }
	text := strings.Repeat("0123456789", 200_000) // more than the buffers
	status, got, err := read(rg.client(false).Post(rg.front.URL, "text/plain", strings.NewReader(text)))
	if status != 200 || got != text || err != nil {
		t.Errorf("status %d, %d bytes, error %v", status, len(got), err)
	}
	rg.idle()
	if c := rg.shared.Counts(); c.Streamed != 1 || c.Broken != 0 {
		t.Errorf("%+v", c)
	}
}

// exact is a body that fails if it is read beyond its length.
type exact struct {
	io.ReadCloser
	left int64
}

func (e *exact) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, http.ErrBodyReadAfterClose
	}
	n, err := e.ReadCloser.Read(p)
	e.left -= int64(n)
	return n, err
}

// A conversation continues in both directions, whichever side begins.
func TestConversations(t *testing.T) {
	for _, h2c := range []bool{false, true} {
		for _, kind := range []string{"gRPC", "unknown length", "known length"} {
			if kind == "known length" && !h2c {
				continue // net/http sends such a body over HTTP/1 in pieces of 4 KB
			}
			if kind == "gRPC" && !h2c {
				continue // it needs HTTP/2
			}
			t.Run(fmt.Sprint("h2c ", h2c, " ", kind), func(t *testing.T) {
				grpc := kind == "gRPC"
				rg := newRig(t, 1, h2c, func(w http.ResponseWriter, r *http.Request) {
					_ = http.NewResponseController(w).EnableFullDuplex()
					if grpc {
						w.Header().Set("Content-Type", "application/grpc")
						w.Header().Set("Trailer", "Grpc-Status")
					}
					w.(http.Flusher).Flush() // the client waits for the header
					line := make([]byte, 4)
					for {
						if _, err := io.ReadFull(r.Body, line); err != nil {
							break
						}
						_, _ = w.Write(line)
						w.(http.Flusher).Flush()
					}
					w.Header().Set("Grpc-Status", "0")
				}, func(_ *config.Config, r *config.Route) {
					if !grpc {
						r.Body = bodyStreams
					}
				})
				rg.shared.pause = time.Millisecond
				from, to := io.Pipe()
				req, _ := http.NewRequest(http.MethodPost, rg.front.URL, from)
				if grpc {
					req.Header.Set("Content-Type", "application/grpc")
				}
				if kind == "known length" {
					req.ContentLength = int64(len("ping" + "pong" + "!"))
				}
				res := must.Have(rg.client(h2c).Do(req))(t)
				defer res.Body.Close()
				for _, line := range []string{"ping", "pong"} {
					_, _ = io.WriteString(to, line)
					got := make([]byte, 4)
					if _, err := io.ReadFull(res.Body, got); err != nil || string(got) != line {
						t.Fatalf("%q, %v", got, err)
					}
				}
				_, _ = io.WriteString(to, "!")
				to.Close()
				must.Have(io.ReadAll(res.Body))(t)
				if grpc && res.Trailer.Get("Grpc-Status") != "0" {
					t.Errorf("trailers %v", res.Trailer)
				}
				rg.taught(limittest.Taught{Ignored: 1})
				if c := rg.shared.Counts(); c.Streamed != 1 || c.Broken != 0 {
					t.Errorf("%+v", c)
				}
			})
		}
	}
}

// A call that ends at once is limited, and its trailers determine the outcome, also if the server
// sends no message. net/http then sends a length of 0 with the trailers.
func TestUnaryCallsOfGRPC(t *testing.T) {
	for code, want := range map[string]limittest.Taught{"0": {Succeeded: 1}, "13": {Failed: 1}, "4": {TimedOut: 1}, "5": {Ignored: 1}} {
		for _, announced := range []bool{false, true} {
			for _, message := range []string{"message", ""} {
				checkUnaryCall(t, code, announced, message, want)
			}
		}
	}
}

func checkUnaryCall(t *testing.T, code string, announced bool, message string, want limittest.Taught) {
	rg := newRig(t, 1, true, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/grpc")
		name := http.TrailerPrefix + "Grpc-Status"
		if announced {
			name = "Grpc-Status"
			w.Header().Set("Trailer", name)
		}
		_, _ = io.WriteString(w, message)
		if announced { // otherwise the server sets the length
			w.(http.Flusher).Flush()
		}
		w.Header().Set(name, code)
	}, nil)
	req, _ := http.NewRequest(http.MethodPost, rg.front.URL, io.MultiReader(strings.NewReader("message")))
	req.Header.Set("Content-Type", "application/grpc")
	req.Header.Set("Te", "trailers")
	res := must.Have(rg.client(true).Do(req))(t)
	body, err := io.ReadAll(res.Body)
	res.Body.Close()
	if string(body) != message || err != nil || res.Trailer.Get("Grpc-Status") != code {
		t.Errorf("%q, %v, trailers %v", body, err, res.Trailer)
	}
	rg.taught(want)
}

// The unread rest of a body must not be read as a request, whether the upstream or the proxy
// answers.
func TestRestOfABodyIsNoRequest(t *testing.T) {
	for status, refuses := range map[int]bool{http.StatusUnauthorized: false, http.StatusServiceUnavailable: true} {
		asked := make(chan string, 10)
		rg := newRig(t, 1, false, func(w http.ResponseWriter, r *http.Request) {
			asked <- r.URL.Path
			_ = http.NewResponseController(w).EnableFullDuplex()
			w.WriteHeader(http.StatusUnauthorized)
		}, func(c *config.Config, r *config.Route) { c.Streams.Max, r.Body = 1, bodyStreams })
		rg.shared.pause = time.Millisecond
		if refuses {
			asked <- "/first"
			defer limittest.Fill(t, rg.shared.streams)()
		}
		conn, answers := rg.dial("POST /first HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n")
		if res := rg.answer(answers, status); !res.Close {
			t.Errorf("status %d: the connection is not closed", status)
		}
		_, _ = io.WriteString(conn, "GET /second HTTP/1.1\r\nHost: h\r\n\r\n")
		_, _ = io.Copy(io.Discard, answers)
		if <-asked; len(asked) != 0 {
			t.Errorf("status %d: the upstream was asked for %s", status, <-asked)
		}
	}
}
