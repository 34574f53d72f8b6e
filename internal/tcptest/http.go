package tcptest

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// ServeHTTP serves HTTP/1 and, without TLS, HTTP/2 until the test ends.
func ServeHTTP(t testing.TB, h http.Handler) *httptest.Server {
	t.Helper()
	srv := httptest.NewUnstartedServer(h)
	srv.Config.Protocols = new(http.Protocols)
	srv.Config.Protocols.SetHTTP1(true)
	srv.Config.Protocols.SetUnencryptedHTTP2(true)
	srv.Start()
	t.Cleanup(func() {
		srv.CloseClientConnections() // Close would wait for requests that a test has left
		srv.Close()
	})
	return srv
}

// Transport returns a transport of HTTP/1, or of HTTP/2 without TLS.
func Transport(t testing.TB, http2 bool) *http.Transport {
	t.Helper()
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetHTTP1(!http2)
	transport.Protocols.SetUnencryptedHTTP2(http2)
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}
