package exchange

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/weirhttp"
)

// The upstream receives a request as a proxy has to send it.
func TestHeadersForTheUpstream(t *testing.T) {
	rg := newRig(t, 1, false, func(w http.ResponseWriter, r *http.Request) {
		h := r.Header
		fmt.Fprint(w, r.Host, r.URL.RawQuery, "|", h["Te"], h["Upgrade"], h["Keep-Alive"], h["Proxy-Connection"], h["X-Named"], h["User-Agent"], h["Accept"])
	}, nil)
	for head, want := range map[string]string{
		"GET /?a=%zz&b=1 HTTP/1.1\r\nHost: h\r\nTE: gzip, trailers\r\nKeep-Alive: 5\r\nProxy-Connection: close\r\nAccept: a\r\nAccept: b\r\n": "hb=1|[trailers] [] [] [] [] [] [a b]",
		"GET /?a=1;b=2&c=3 HTTP/1.1\r\nHost: h\r\nTE: gzip\r\nConnection: x-named, Upgrade\r\nX-Named: 1\r\nUser-Agent: me\r\n":               "hc=3|[] [] [] [] [] [me] []",
		"GET /?a=1 HTTP/1.1\r\nHost: h\r\nConnection: close, x-named\r\nX-Named: 1\r\n":                                                       "ha=1|[] [] [] [] [] [] []",
		"GET /?a=%41&b=1 HTTP/1.1\r\nHost: h\r\nUpgrade: ignored\r\n":                                                                         "ha=%41&b=1|[] [] [] [] [] [] []",
	} {
		_, answers := rg.dial(head + "\r\n")
		res := must.Have(http.ReadResponse(answers, nil))(t)
		if got, _ := io.ReadAll(res.Body); string(got) != want {
			t.Errorf("%q: %s, want %s", head, got, want)
		}
	}
}

// Informational responses reach the client, and leave the header of the final one as it is.
func TestInformationalResponses(t *testing.T) {
	rg := newRig(t, 1, false, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Link", "</style.css>")
		w.WriteHeader(http.StatusEarlyHints)
		w.WriteHeader(http.StatusProcessing)
		w.Header().Del("Link")
		w.Header().Set("Connection", "x-hop")
		w.Header().Set("X-Hop", "1")
		w.WriteHeader(http.StatusTeapot)
	}, nil)
	var early []string
	req, _ := http.NewRequestWithContext(httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
		Got1xxResponse: func(status int, h textproto.MIMEHeader) error {
			early = append(early, fmt.Sprint(status, h["Link"]))
			return nil
		},
	}), http.MethodGet, rg.front.URL, nil)
	res := must.Have(rg.client(false).Do(req))(t)
	res.Body.Close()
	if got := strings.Join(early, " "); got != "103 [</style.css>] 102 [</style.css>]" || res.StatusCode != http.StatusTeapot {
		t.Errorf("%s, then %d", got, res.StatusCode)
	}
	if res.Header["Link"] != nil || res.Header["X-Hop"] != nil || len(res.Header["X-Request-Id"]) != 1 {
		t.Errorf("the response has %v", res.Header)
	}
}

// The server writes a 100 Continue while the body is read for the first time, which must not mix
// with an informational response. Here that read is held before it reaches the server.
func TestInformationalResponsesBesideA100Continue(t *testing.T) {
	hinted, reading, release := make(chan struct{}), make(chan struct{}), make(chan struct{})
	rg := newRig(t, 1, false, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusEarlyHints)
		<-hinted
		w.WriteHeader(http.StatusContinue)
		<-reading
		w.WriteHeader(http.StatusProcessing)
		w.WriteHeader(http.StatusTeapot)
	}, func(_ *config.Config, rc *config.Route) { rc.Body = bodyStreams })
	rg.wrap = func(r *http.Request) io.ReadCloser {
		return heldBody{r.Body, sync.OnceFunc(func() { close(reading); <-release })}
	}
	defer close(release)
	_, answers := rg.dial("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
	rg.answer(answers, http.StatusEarlyHints)
	close(hinted)
	for _, status := range []int{http.StatusContinue, http.StatusProcessing, http.StatusTeapot} {
		rg.answer(answers, status)
	}
}

// heldBody holds its first read.
type heldBody struct {
	io.ReadCloser
	hold func()
}

func (b heldBody) Read(p []byte) (int, error) {
	b.hold()
	return b.ReadCloser.Read(p)
}

// Trailers reach the client, announced or not. One of HTTP/1.0 has the length, by which it sees
// whether the response is whole.
func TestTrailersOfResponses(t *testing.T) {
	answer := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/late" {
			w.Header().Set("Trailer", "X-Sum")
		}
		if r.ProtoMajor == 2 { // which has trailers beside a length
			w.Header().Set("Content-Length", "4")
		}
		w.Header().Set("X-Sum", "0")
		_, _ = io.WriteString(w, "text")
		w.(http.Flusher).Flush()
		w.Header().Del("X-Sum")
		w.Header().Set(http.TrailerPrefix+"X-Sum", "1")
		if r.URL.Path == "/partly" {
			w.Header().Set(http.TrailerPrefix+"X-More", "2")
		}
	}
	for _, h2c := range []bool{false, true} {
		rg := newRig(t, 1, h2c, answer, nil)
		for _, path := range []string{"/announced", "/partly", "/late"} {
			res := must.Have(rg.client(false).Get(rg.front.URL + path))(t)
			_, _ = io.Copy(io.Discard, res.Body)
			res.Body.Close()
			if got := res.Trailer["X-Sum"]; !slices.Equal(got, []string{"1"}) {
				t.Errorf("HTTP/2 to the upstream %v, %s: trailer %q", h2c, path, got)
			}
		}
		_, answers := rg.dial("GET /announced HTTP/1.0\r\nHost: h\r\n\r\n")
		if res := rg.answer(answers, http.StatusOK); h2c && res.ContentLength != 4 {
			t.Errorf("HTTP/1.0: a length of %d, want 4", res.ContentLength)
		}
	}
}

// A client of HTTP/2 sees the end of a response whose trailers are announced, but not sent. It gets
// no header of the same name as a trailer.
func TestTrailersThatAreNotSent(t *testing.T) {
	for _, h2c := range []bool{false, true} {
		rg := newRig(t, 1, h2c, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Trailer", "X-Sum")
			w.Header().Set("X-Sum", "0")
			_, _ = io.WriteString(w, "text")
			w.(http.Flusher).Flush()
			w.Header().Del("X-Sum")
		}, nil)
		res := must.Have(rg.client(true).Get(rg.front.URL))(t)
		_, err := io.Copy(io.Discard, res.Body)
		res.Body.Close()
		if err != nil || res.Trailer["X-Sum"] != nil {
			t.Errorf("HTTP/2 to the upstream %v: %v, trailers %v", h2c, err, res.Trailer)
		}
	}
}

// An informational response has no header of a connection, and none that only the proxy may set.
// A client of HTTP/1.0 gets none (RFC 9110, 15.2): it takes the first response as the final one.
func TestHeadersOfInformationalResponses(t *testing.T) {
	rg := newRig(t, 1, false, raw("HTTP/1.1 103 Early Hints\r\nConnection: x-hop\r\nX-Hop: 1\r\nKeep-Alive: 5\r\nX-Request-Id: of the upstream\r\nLink: </a>\r\n\r\n"+
		"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), nil)
	for version, want := range map[string]int{"1.1": http.StatusEarlyHints, "1.0": http.StatusOK} {
		_, answers := rg.dial("GET / HTTP/" + version + "\r\nHost: h\r\n\r\n")
		res := must.Have(http.ReadResponse(answers, nil))(t)
		if res.StatusCode != want || res.Header["X-Hop"] != nil || res.Header["Keep-Alive"] != nil || len(res.Header["X-Request-Id"]) != 1 {
			t.Errorf("HTTP/%s: status %d, %v", version, res.StatusCode, res.Header)
		}
	}
}

// Some headers of an upstream's response end at the proxy, whatever protocol the client speaks.
func TestHeadersThatClientsDoNotGet(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\nX-End: 1\r\n"
	hop := []string{"X-Hop", "Keep-Alive", "Connection"}
	for response, dropped := range map[string][]string{
		// Those of the connection. The names beside close are unknown: net/http deletes such a
		// Connection header as it reads the response.
		ok + "Content-Length: 0\r\nConnection: x-hop\r\nX-Hop: 1\r\nKeep-Alive: 5\r\n\r\n":             hop,
		ok + "Content-Length: 0\r\nConnection: keep-alive, X-Hop\r\nX-Hop: 1\r\nKeep-Alive: 5\r\n\r\n": hop,
		ok + "Content-Length: 0\r\nConnection: X-Hop ,\r\nX-Hop: 1\r\nKeep-Alive: 5\r\n\r\n":           hop,
		// The proxy has its own.
		ok + "Content-Length: 0\r\nX-Request-Id: of the upstream\r\nWeir-Refused: queue full\r\n\r\n": {weirhttp.RefusedHeader},
		// A 204 has no length (RFC 9110, 8.6): curl fails on HTTP/2 if it has one.
		"HTTP/1.1 204 No Content\r\nX-End: 1\r\nContent-Length: 5\r\n\r\n": {"Content-Length"},
		// An answer that the upstream does not call a page must not become one.
		ok + "Content-Length: 6\r\n\r\n<html>": {"Content-Type"},
		ok + "\r\n<html>":                      {"Content-Type"},
	} {
		rg := newRig(t, 1, false, raw(response), nil)
		for _, h2c := range []bool{false, true} {
			res := must.Have(rg.client(h2c).Get(rg.front.URL))(t)
			res.Body.Close()
			if res.StatusCode/100 != 2 || res.Header.Get("X-End") != "1" || len(res.Header["X-Request-Id"]) != 1 {
				t.Errorf("%q, HTTP/2 %v: status %d, %v", response, h2c, res.StatusCode, res.Header)
			}
			for _, name := range dropped {
				if got, ok := res.Header[name]; ok {
					t.Errorf("%q, HTTP/2 %v: %s %q", response, h2c, name, got)
				}
			}
		}
	}
}

// A response that changes the protocol belongs to this connection alone too.
func TestHeadersOfAnUpgrade(t *testing.T) {
	rg := newRig(t, 1, false, raw("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade, x-hop\r\nUpgrade: a\r\nX-Hop: 1\r\nKeep-Alive: 5\r\nX-End: 1\r\n\r\n"), nil)
	_, answers := rg.dial("GET / HTTP/1.1\r\nHost: h\r\nConnection: upgrade\r\nUpgrade: a\r\n\r\n")
	res := must.Have(http.ReadResponse(answers, nil))(t)
	if h := res.Header; res.StatusCode != 101 || h["X-Hop"] != nil || h["Keep-Alive"] != nil || h.Get("Connection") != "Upgrade" || h.Get("Upgrade") != "a" || h["X-End"] == nil {
		t.Errorf("status %d, %v", res.StatusCode, h)
	}
}

// A connection changes its protocol only as both sides want it.
func TestUpgradesThatFail(t *testing.T) {
	for asked, given := range map[string]string{"a": "b", "a\x7f": "a\x7f", "h2c": "h2c", "": "h2c"} {
		rg := newRig(t, 1, false, raw("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: "+given+"\r\n\r\n"), nil)
		_, answers := rg.dial("GET / HTTP/1.1\r\nHost: h\r\nConnection: upgrade\r\nUpgrade: " + asked + "\r\n\r\n")
		if res, err := http.ReadResponse(answers, nil); err == nil && res.StatusCode < 400 {
			t.Errorf("%q for %q: status %d", given, asked, res.StatusCode)
		}
		rg.idle()
	}
}

// A client may have less time than the route.
func TestDeadlineOfAClient(t *testing.T) {
	up := &worker{release: make(chan struct{}), notices: true}
	rg := newRig(t, 1, false, up.ServeHTTP, nil)
	rg.allowed = 10 * time.Millisecond
	if status, _, err := rg.get("/"); status != http.StatusGatewayTimeout || err != nil {
		t.Errorf("status %d, %v", status, err)
	}
	rg.taught(limittest.Taught{TimedOut: 1})
}

// A server of gRPC ends its call at the client's deadline by itself. By short ones, strangers could
// otherwise have addresses ejected and the limit lowered.
func TestDeadlineOfACallOfGRPC(t *testing.T) {
	for header, timeout := range map[string]string{"Grpc-Timeout": "20m", "Connect-Timeout-Ms": "20"} {
		rg := newRig(t, 1, true, func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-r.Context().Done():
			case <-time.After(5 * time.Second):
			}
			panic(http.ErrAbortHandler)
		}, func(_ *config.Config, rc *config.Route) { rc.GRPC = "a.B/*" })
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, rg.front.URL, strings.NewReader("message"))
		req.Header.Set(header, timeout)
		if status, _, err := read(rg.client(true).Do(req)); status != statusClientLeft || err != nil {
			t.Errorf("%s: status %d, %v", header, status, err)
		}
		rg.taught(limittest.Taught{Ignored: 1})
		if c := rg.shared.Counts(); len(rg.faults) > 0 || c.Left != 1 || c.TimedOut != 0 {
			t.Errorf("%s: faults %v, %+v", header, rg.faults, c)
		}
	}
}

// The call ends at its deadline, although its client continues sending.
func TestDeadlineOfACallThatSends(t *testing.T) {
	rg := newRig(t, 1, true, echo, func(_ *config.Config, rc *config.Route) { rc.GRPC = "a.B/*" })
	rg.shared.pause = time.Millisecond
	body, messages := io.Pipe()
	defer messages.Close()
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, rg.front.URL, body)
	req.Header.Set("Grpc-Timeout", "20m")
	if status, _, err := read(rg.client(true).Do(req)); status != statusClientLeft || err != nil {
		t.Errorf("status %d, %v", status, err)
	}
}

// The server's timer may be earlier than the proxy's.
func TestServerEndsACallAtItsDeadline(t *testing.T) {
	x := &exchange{until: time.Now()}
	x.ctx, x.cancel = context.WithCancelCause(t.Context())
	if got := x.outcome(errors.New("CANCEL; received from peer")); got != weir.Abandoned || !x.ClientFailed() {
		t.Errorf("outcome %v", got)
	}
}

func TestBodiesArriveWhole(t *testing.T) {
	for _, h2c := range []bool{false, true} {
		for _, known := range []bool{false, true} {
			for _, size := range []int{0, 1, 4095, 4096, 4097, 64 << 10, 64<<10 + 1, 100_000, 1 << 20} {
				t.Run(fmt.Sprint("h2c ", h2c, " known ", known, " ", size), func(t *testing.T) {
					rg := newRig(t, 10, h2c, echo, func(c *config.Config, _ *config.Route) { c.Buffers.File = 50_000 })
					text := strings.Repeat("0123456789", size/10+1)[:size]
					body := bodyOf(text, known)
					req, _ := http.NewRequest(http.MethodPost, rg.front.URL, body)
					res := must.Have(rg.client(h2c).Do(req))(t)
					defer res.Body.Close()
					got, err := io.ReadAll(res.Body)
					if err != nil || string(got) != text {
						t.Errorf("got %d bytes, error %v", len(got), err)
					}
					streams := size > 64<<10+50_000
					want := fmt.Sprint(size)
					if !known && streams {
						want = "-1"
					}
					if got := res.Header.Get("Got-Length"); got != want {
						t.Errorf("the upstream was told a length of %s, want %s", got, want)
					}
					rg.idle()
					streamed := uint64(0)
					if streams {
						streamed = 1
					}
					if c := rg.shared.Counts(); c.Streamed != streamed {
						t.Errorf("%d streams, want %d", c.Streamed, streamed)
					}
				})
			}
		}
	}
}

func TestResponsesArriveWhole(t *testing.T) {
	for _, h2c := range []bool{false, true} {
		for _, length := range []string{"", "1"} {
			for _, size := range []int{0, 1, 4096, 64 << 10, 200_000, 1 << 20} {
				t.Run(fmt.Sprint("h2c ", h2c, " length ", length, " ", size), func(t *testing.T) {
					rg := newRig(t, 10, h2c, say, nil)
					status, got, err := read(rg.client(h2c).Get(fmt.Sprint(rg.front.URL, "?size=", size, "&length=", length)))
					if err != nil || status != 200 || got != strings.Repeat("x", size) {
						t.Errorf("status %d, %d bytes, error %v", status, len(got), err)
					}
					rg.taught(limittest.Taught{Succeeded: 1})
					exchanged := uint64(0)
					if size > 64<<10 {
						exchanged = 1
					}
					if c := rg.shared.Counts(); c.Exchanged != exchanged || c.Answered["2xx"] != 1 {
						t.Errorf("%+v, want %d exchanged", c, exchanged)
					}
				})
			}
		}
	}
}

// Trailers of a buffered body reach the upstream, wherever the body waited. An unannounced
// trailer may be dropped after a streamed body (RFC 9110, section 6.5.1). None ends the connection.
func TestTrailersOfBufferedBodies(t *testing.T) {
	for _, h2c := range []bool{false, true} {
		for size, streams := range map[int]bool{10: false, 64 << 10: false, 200_000: false, 2 * mebibyte: true} {
			for _, announced := range []string{"", "Trailer: After\r\n", "Trailer: Other\r\n"} {
				if streams && announced != "Trailer: After\r\n" {
					continue
				}
				rg := newRig(t, 4, h2c, echo, nil)
				conn, answers := rg.dial("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n" + announced + "\r\n")
				go fmt.Fprintf(conn, "%x\r\n%s\r\n0\r\nAfter: all\r\n\r\n", size, strings.Repeat("x", size))
				res, err := http.ReadResponse(answers, nil)
				if err != nil {
					t.Errorf("h2c %v, %d bytes, %q: %v", h2c, size, announced, err)
					continue
				}
				if got := res.Header.Get("Got-Trailer"); res.StatusCode != 200 || got != "all" {
					t.Errorf("h2c %v, %d bytes, %q: status %d, trailer %q", h2c, size, announced, res.StatusCode, got)
				}
				_, _ = io.Copy(io.Discard, res.Body)
				fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
				if _, err := http.ReadResponse(answers, nil); err != nil {
					t.Errorf("h2c %v, %d bytes, %q: the connection does not go on: %v", h2c, size, announced, err)
				}
				conn.Close()
				rg.idle()
			}
		}
	}
}
