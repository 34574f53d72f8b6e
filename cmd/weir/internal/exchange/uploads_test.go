package exchange

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/internal/must"
)

const mebibyte = 1 << 20

// upload is the beginning of a request with an unfinished body. It streams with the settings
// of noBuffers.
var upload = fmt.Sprintf("POST /upload HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\nbegin", 17*mebibyte)

func noBuffers(c *config.Config, _ *config.Route) { c.Buffers.Request, c.Buffers.File = 0, 0 }

// Forty uploads that stall hold at most their part of the limit, whatever they claim to be. The
// others are refused, and short requests are not affected.
func TestUploadsHoldAPartOfTheLimit(t *testing.T) {
	const limit, crowd = 8, 40
	rg := newRig(t, limit, false, site, func(c *config.Config, rc *config.Route) {
		noBuffers(c, rc)
		c.Streams.Uploads = 0.5
	})
	for range crowd / 2 {
		rg.dial(upload)
		rg.dial(strings.Replace(upload, "Host: h", "Host: h\r\nContent-Type: application/grpc", 1))
	}
	// One address may hold half of the part.
	rg.until("all others are refused", func() bool {
		return rg.shared.Counts().Refused["tenant over its share"] == crowd-limit/4 && rg.inFlight() == limit/4
	})
	for range 100 {
		if status, _, err := rg.get("/?size=1000&length=1"); status != 200 || err != nil {
			t.Fatalf("a request beside them: status %d, error %v", status, err)
		}
	}
	if s := rg.lim.Snapshot(); s.InFlight > limit/2 || s.Failed != 0 {
		t.Errorf("%+v", s)
	}
	rg.front.CloseClientConnections()
	rg.idle()
}

// An upload that arrives holds its slot until the response, and no longer.
func TestUploadsHoldTheirSlots(t *testing.T) {
	release, held := make(chan struct{}), make(chan struct{})
	rg := newRig(t, 4, false, func(w http.ResponseWriter, r *http.Request) {
		n, err := io.Copy(io.Discard, r.Body)
		close(held)
		<-release
		fmt.Fprint(w, n, err)
	}, nil)
	answered := make(chan string)
	go func() {
		status, body, err := read(rg.client(false).Post(rg.front.URL, "", io.MultiReader(strings.NewReader(strings.Repeat("x", 3*mebibyte)))))
		answered <- fmt.Sprint(status, " ", body, err)
	}()
	<-held
	if n := rg.inFlight(); n != 1 {
		t.Errorf("%d slots are held, want 1", n)
	}
	close(release)
	if got, want := <-answered, fmt.Sprintf("200 %d <nil><nil>", 3*mebibyte); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	rg.taught(limittest.Taught{Ignored: 1})
	if c := rg.shared.Counts(); c.Streamed != 1 || c.Stored != 0 {
		t.Errorf("%+v", c)
	}
}

// Bodies that find no room in the store stream, and one client leaves room for others.
func TestStoreIsBounded(t *testing.T) {
	rg := newRig(t, 100, false, site, func(c *config.Config, _ *config.Route) {
		c.Buffers.Store, c.Buffers.File = 4*mebibyte, mebibyte
	})
	body := "POST /upload HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\n" + strings.Repeat("x", 999_000)
	for range 8 {
		conn, _ := rg.dial(body[:100])
		go func() { _, _ = io.WriteString(conn, body[100:]) }() // waits while the client's part is full
	}
	rg.until("the client has its part", func() bool { c := rg.shared.Counts(); return c.Received == 8 && c.Streamed >= 6 })
	if c := rg.shared.Counts(); c.Stored > mebibyte || c.Stored < mebibyte/2 {
		t.Errorf("%d bytes are stored, want at most a quarter of 4 MiB", c.Stored)
	}
	rg.front.CloseClientConnections()
	rg.idle()
}

// A body of HTTP/2 that just fits is no upload and no conversation, although the server reads its
// end after its last byte.
func TestBodyAsLongAsItsBuffer(t *testing.T) {
	const memory = 64 << 10
	for _, file := range []config.Bytes{0, memory} {
		rg := newRig(t, 1, false, echo, func(c *config.Config, _ *config.Route) { c.Buffers.File = file })
		body := strings.Repeat("x", memory+int(file))
		status, got, err := read(rg.client(true).Post(rg.front.URL, "", strings.NewReader(body)))
		if status != http.StatusOK || got != body || err != nil {
			t.Errorf("a file of %d: status %d, %d bytes, %v", file, status, len(got), err)
		}
		rg.idle()
		if c := rg.shared.Counts(); c.Streamed != 0 {
			t.Errorf("a file of %d: %+v, want no upload", file, c)
		}
	}
	rg := newRig(t, 1, true, echo, nil)
	call, _ := http.NewRequest(http.MethodPost, rg.front.URL, io.MultiReader(strings.NewReader(strings.Repeat("x", memory))))
	call.Header.Set("Content-Type", "application/grpc")
	_, got, err := read(rg.client(true).Do(call))
	if c := rg.shared.Counts(); len(got) != memory || err != nil || c.Streamed != 0 {
		t.Errorf("a call: %d bytes, %v, %+v, want no conversation", len(got), err, c)
	}
}

// An upstream may fail, or answer, while the client of an upload takes its time. The client then
// has its answer, and the slot is free.
func TestUpstreamEndsAStalledUpload(t *testing.T) {
	const answer = "HTTP/1.1 413 Content Too Large\r\nContent-Length: 4\r\n\r\nlong"
	chunks := "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nbegin\r\n"
	fails := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	answers := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "4")
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		_, _ = io.WriteString(w, "long")
	}
	for name, c := range map[string]struct {
		upload   string
		http2    bool
		upstream http.HandlerFunc
		status   int
		blamed   uint64
	}{
		"fails":                     {chunks, false, raw(""), http.StatusBadGateway, 1},
		"fails an upload":           {upload, false, raw(""), http.StatusBadGateway, 1},
		"fails, HTTP/2":             {chunks, true, fails, http.StatusBadGateway, 1},
		"answers":                   {upload, false, raw(answer), http.StatusRequestEntityTooLarge, 0},
		"answers a chunk":           {chunks, false, raw(answer), http.StatusRequestEntityTooLarge, 0},
		"answers, HTTP/2":           {upload, true, answers, http.StatusRequestEntityTooLarge, 0},
		"answers a chunk, HTTP/2":   {chunks, true, answers, http.StatusRequestEntityTooLarge, 0},
		"fails in a conversation":   {chunks, true, fails, http.StatusBadGateway, 1},
		"answers in a conversation": {chunks, true, answers, http.StatusRequestEntityTooLarge, 0},
	} {
		for _, leaves := range []string{"finish", leavesCancel} {
			t.Run(name+", "+leaves, func(t *testing.T) {
				t.Parallel()
				rg := newRig(t, 4, c.http2, c.upstream, func(c *config.Config, rc *config.Route) {
					if strings.HasSuffix(name, "conversation") {
						rc.GRPC = "a.B/*"
					} else {
						noBuffers(c, rc)
					}
					rc.Leaves = leaves
				})
				rg.shared.pause = time.Millisecond
				_, from := rg.dial(c.upload)
				res := rg.answer(from, c.status)
				_ = must.Have(io.ReadAll(res.Body))(t)
				if !res.Close {
					t.Error("the connection stays, with the rest of a body")
				}
				rg.idle()
				if n := rg.blamed(); n != c.blamed {
					t.Errorf("%d failures of the upstream, want %d", n, c.blamed)
				}
			})
		}
	}
}

// HTTP/2 ends the body of a client that takes its time.
func TestUpstreamAnswersAStalledUploadOfHTTP2(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		rg := newRig(t, 4, http2, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "4")
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			_, _ = io.WriteString(w, "long")
		}, noBuffers)
		body, client := io.Pipe()
		go client.Write([]byte("begin"))
		req := must.Have(http.NewRequestWithContext(t.Context(), http.MethodPost, rg.front.URL, body))(t)
		req.ContentLength = 17 * mebibyte
		if status, text, err := read(rg.client(true).Do(req)); status != http.StatusRequestEntityTooLarge || text != "long" || err != nil {
			t.Errorf("HTTP/2 to the upstream %v: status %d, %q, %v", http2, status, text, err)
		}
		client.Close()
		rg.idle()
	}
}

// An upstream may take its time to end its answer. The server ends the context of a client whose
// read has ended, as of one that has left.
func TestAnswerToAnUploadLasts(t *testing.T) {
	t.Parallel()
	end := make(chan struct{})
	rg := newRig(t, 4, true, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadFull(r.Body, make([]byte, 5))
		w.WriteHeader(http.StatusBadRequest)
		_ = http.NewResponseController(w).Flush()
		<-end
		_, _ = io.WriteString(w, "wrong")
	}, func(c *config.Config, rc *config.Route) {
		noBuffers(c, rc)
		c.Streams.After = config.Duration(time.Millisecond)
	})
	conn, from := rg.dial("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 200000\r\n\r\nbegin")
	res := rg.answer(from, http.StatusBadRequest)
	<-time.After(linger + linger/5)
	_ = must.Have(conn.Write(make([]byte, 100_000)))(t) // which nobody may have read at the end
	close(end)
	if text, err := io.ReadAll(res.Body); string(text) != "wrong" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	rg.idle()
}
