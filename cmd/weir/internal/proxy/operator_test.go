package proxy

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
)

// Strangers could otherwise take all files of the proxy through the address of its probes.
func TestConnectionsOfOperatorsAreBounded(t *testing.T) {
	a, _ := named(t, "a")
	r := start(t, file(a, ""))
	open := func() (status int) {
		conn := must.Have(net.Dial("tcp", r.admin))(t)
		t.Cleanup(func() { conn.Close() })
		must.Do(t, conn.SetDeadline(time.Now().Add(time.Minute)))
		fmt.Fprint(conn, "HEAD /-/weir/snapshot HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
		answer, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: http.MethodHead})
		if err != nil {
			return 0
		}
		answer.Body.Close()
		return answer.StatusCode
	}
	for range 2 * operatorConnections {
		if open() == 0 {
			t.Fatal("an idle connection was not closed in favor of another")
		}
	}
	if open := r.operators[0].Counts().Open; open > operatorConnections {
		t.Errorf("%d connections, at most %d are allowed", open, operatorConnections)
	}
}

// Strangers who announce a body and send none would otherwise hold files of the proxy for ever.
func TestOperatorsHaveTimeouts(t *testing.T) {
	s := operatorSettings("127.0.0.1:0")
	if s.HeaderTimeout <= 0 || s.BodyTimeout <= 0 || s.IdleTimeout <= 0 {
		t.Errorf("%+v", s)
	}
}
