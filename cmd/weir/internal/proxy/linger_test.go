package proxy

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
)

// After its answer, a client cannot keep the proxy busy with an endless request body.
func TestRequestThatNeverEndsAfterItsAnswer(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		control := http.NewResponseController(w)
		if err := control.EnableFullDuplex(); err != nil { // otherwise it would read the body first
			t.Error(err)
		}
		w.WriteHeader(http.StatusUnauthorized)
		_ = control.Flush()
	}))
	defer server.CloseClientConnections()
	r := start(t, file(server.URL, "routes: [{path: /, body: stream}]"))
	conn := must.Have(net.Dial("tcp", r.address))(t)
	defer conn.Close()
	must.Do(t, conn.SetDeadline(time.Now().Add(time.Minute)))
	fmt.Fprint(conn, "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n")
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for range time.Tick(time.Millisecond) {
			if _, err := io.WriteString(conn, "1\r\nx\r\n"); err != nil {
				return
			}
		}
	}()
	must.Happen(t, "the request is over", func() bool { c := r.shared.Counts(); return c.Answered["4xx"] == 1 })
	conn.Close()
	<-ended
}
