package listen

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/internal/must"
)

// Types of frames (RFC 9113, 6).
const (
	data, headers, reset, setting, goAway, windowUpdate, continuation = 0, 1, 3, 4, 7, 8, 9

	preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
)

func frame(kind, flags byte, stream uint32, payload string) string {
	head := []byte{0, byte(len(payload) >> 8), byte(len(payload)), kind, flags, 0, 0, 0, 0}
	binary.BigEndian.PutUint32(head[5:], stream)
	return string(head) + payload
}

// request is GET / of http://h, without a body.
func request(stream uint32) string { return frame(headers, 5, stream, "\x82\x86\x84\x41\x01h") }

func readFrame(from *bufio.Reader) (kind byte, stream uint32, payload []byte, err error) {
	head := make([]byte, 9)
	if _, err := io.ReadFull(from, head); err != nil {
		return 0, 0, nil, err
	}
	payload = make([]byte, int(head[0])<<16|int(head[1])<<8|int(head[2]))
	_, err = io.ReadFull(from, payload)
	return head[3], binary.BigEndian.Uint32(head[5:]) & (1<<31 - 1), payload, err
}

// A client that resets too many requests, too slowly for net/http's own limit, gets a GOAWAY.
// Its open requests are answered.
func TestTooManyResets(t *testing.T) {
	t.Parallel()
	const most = 20
	l := start(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Host == "h" {
			<-r.Context().Done()
		}
		hello(w, r)
	}, func(c *config.Listener) { c.MaxResets = most })
	conn, answers := dial(t, l, preface+frame(setting, 0, 0, ""))
	stream := uint32(1)
	for n := range uint64(most + 1) {
		_, _ = io.WriteString(conn, request(stream))
		_, _ = io.WriteString(conn, frame(reset, 0, stream, "\x00\x00\x00\x08"))
		must.Happen(t, "the reset is counted", func() bool { return l.Counts().Resets == n+1 })
		stream += 2
	}
	_, _ = io.WriteString(conn, frame(headers, 5, stream, "\x82\x86\x84\x41\x01i"))
	away, body := false, ""
	for {
		kind, on, payload, err := readFrame(answers)
		if err != nil {
			if !errors.Is(err, io.EOF) {
				t.Errorf("%v, want the connection closed", err)
			}
			break
		}
		away = away || kind == goAway
		if kind == data && on == stream {
			body += string(payload)
		}
	}
	if !away || body != "hello" {
		t.Errorf("GOAWAY %v, answer %q", away, body)
	}
}

// A client that closes its connection resets nothing.
func TestClosedConnectionIsNoReset(t *testing.T) {
	begun, ended := make(chan struct{}), make(chan struct{})
	l := start(t, func(_ http.ResponseWriter, r *http.Request) {
		close(begun)
		<-r.Context().Done()
		close(ended)
	}, nil)
	conn, _ := dial(t, l, preface+frame(setting, 0, 0, "")+request(1))
	<-begun
	conn.Close()
	<-ended
	must.Happen(t, "it is closed", func() bool { return l.Counts().Open == 0 })
	if n := l.Counts(); n.Resets != 0 {
		t.Errorf("%+v", n)
	}
}

// The client has no room for any response: its window is 0.
func TestClosedWindow(t *testing.T) {
	for name, write := range map[string]http.HandlerFunc{
		"short": hello,
		"flush": func(w http.ResponseWriter, r *http.Request) { hello(w, r); w.(http.Flusher).Flush() },
		"long":  func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 1<<20)) },
	} {
		t.Run(name, func(t *testing.T) {
			l := start(t, write, func(c *config.Listener) { c.BodyTimeout = short / 4 })
			_, answers := dial(t, l, preface+frame(setting, 0, 0, "\x00\x04\x00\x00\x00\x00")+request(1))
			for {
				kind, stream, _, err := readFrame(answers)
				if err != nil {
					t.Fatal(err)
				}
				if kind == reset && stream == 1 {
					return
				}
			}
		})
	}
}

// A stream waits for the connection, which the client reads slowly: the stream has not stalled.
func TestSlowConnectionStallsNoStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const each = 20 * time.Second // for a write of the connection, which may take four times bodyTimeout
		socket, client := net.Pipe()
		l := new(Listener)
		l.live.Store(newLive(config.Listener{BodyTimeout: config.Duration(10 * time.Second)}))
		c := &conn{Conn: socket, listener: l}
		go func() {
			for page := make([]byte, 1); ; time.Sleep(each) {
				if _, err := client.Read(page); err != nil {
					return
				}
			}
		}()
		s := l.newStream(httptest.NewRecorder(), c)
		defer s.writing.close()
		s.writing.begin(c.readStall(), s)
		for range 10 {
			must.Have(c.Write([]byte("x")))(t)
		}
		if n := l.Counts().Stalled; n != 0 {
			t.Errorf("%d have stalled", n)
		}
		time.Sleep(2 * c.readStall()) // the connection has room, and the stream has none
		if n := l.Counts().Stalled; n != 1 {
			t.Errorf("%d have stalled, want the stream", n)
		}
		c.writing.close()
		client.Close()
		time.Sleep(each)
	})
}

// net/http closes the connection, as doc.go says.
func TestEndlessHeaders(t *testing.T) {
	t.Parallel()
	l := start(t, hello, func(c *config.Listener) { c.MaxHeader = 4 << 10 })
	conn, answers := dial(t, l, preface+frame(setting, 0, 0, "")+frame(headers, 1, 1, "\x82\x86\x84\x41\x01h"))
	done := make(chan struct{})
	go func() {
		defer close(done)
		more := frame(continuation, 0, 1, "\x40\x01x\x7f\x7b"+string(make([]byte, 250)))
		for _, err := io.WriteString(conn, more); err == nil; _, err = io.WriteString(conn, more) {
			continue
		}
	}()
	for {
		if _, _, _, err := readFrame(answers); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal("not closed in a minute")
		} else if err != nil {
			break
		}
	}
	conn.Close()
	<-done
}
