package upstream

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/internal/certstest"
	"github.com/weir-go/weir/internal/must"
)

// A folder holds files whose changes are always detected, however quick.
type folder struct {
	testing.TB
	path    string
	changes time.Duration
}

func (f *folder) write(name string, text []byte) (path string) {
	f.Helper()
	path = filepath.Join(f.path, name)
	f.changes += time.Second
	must.Do(f, errors.Join(os.WriteFile(path, text, 0o600), os.Chtimes(path, time.Time{}, time.Unix(0, 0).Add(f.changes))))
	return path
}

// secure starts a server that answers with the name in its client's certificate and the
// protocol. It closes its connections, so that each request makes a handshake.
func secure(t testing.TB, a *certstest.Authority, name string, http2 bool) (url string) {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
		client := "none"
		if len(r.TLS.PeerCertificates) > 0 {
			client = r.TLS.PeerCertificates[0].Subject.CommonName
		}
		io.WriteString(w, client+" "+r.Proto+" "+r.TLS.ServerName)
	}))
	s.EnableHTTP2 = http2
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{a.Pair(name)}, ClientAuth: tls.RequestClientCert}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s.URL
}

// ask returns the answer of the pool's only server.
func ask(p *Pool) (string, error) {
	res, err := roundTrip(p, httptest.NewRequest(http.MethodGet, "/", nil))
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	return string(text), err
}

func TestFilesOfTLSAreReadAgainWhenTheyChange(t *testing.T) {
	right, wrong, dir := certstest.New(t), certstest.New(t), &folder{TB: t, path: t.TempDir()}
	c := defaults(secure(t, right, "api.internal", false))
	cert, key := right.Sign("first")
	c.TLS = config.ClientTLS{
		CA: dir.write("ca.pem", wrong.PEM()), Certificate: dir.write("cert.pem", cert), Key: dir.write("key.pem", key), ServerName: "api.internal",
	}
	p, log := started(t, c)
	if _, err := ask(p); !errors.As(err, new(x509.UnknownAuthorityError)) {
		t.Fatalf("error %v, want that the authority is unknown", err)
	}
	dir.write("ca.pem", right.PEM())
	step := func(want string) {
		t.Helper()
		if text, err := ask(p); text != want+" HTTP/1.1 api.internal" || err != nil {
			t.Fatalf("got %q, %v; want that of %s", text, err, want)
		}
	}
	step("first")
	cert, key = right.Sign("second")
	dir.write("cert.pem", cert)
	step("first") // the key is still the old one
	step("first")
	if n := log.count("certificates have changed and cannot be used: the ones from before stay"); n != 1 {
		t.Errorf("logged %d times, want once", n)
	}
	dir.write("key.pem", key)
	step("second")
}

func TestUnusableFilesOfTLSAreAnError(t *testing.T) {
	dir := &folder{TB: t, path: t.TempDir()}
	cert, _ := certstest.New(t).Sign("x")
	for want, files := range map[string]config.ClientTLS{
		"tls.ca: open ":                          {CA: filepath.Join(dir.path, "none.pem")},
		"empty.pem has no certificate: want PEM": {CA: dir.write("empty.pem", nil)},
		`tls.key ""`:                             {Certificate: dir.write("cert.pem", cert)},
	} {
		c := defaults("https://127.0.0.1:1")
		c.TLS = files
		if _, err := New("api", c, nil, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "upstreams.api.addresses[0]: ") {
			t.Errorf("error %v, want it to say %q", err, want)
		}
	}
}

func TestTheServerIsWhoItsAddressSays(t *testing.T) {
	a, dir := certstest.New(t), &folder{TB: t, path: t.TempDir()}
	c := defaults(strings.Replace(secure(t, a, "localhost", false), "127.0.0.1", "localhost", 1))
	c.TLS.CA = dir.write("ca.pem", a.PEM())
	p, _ := started(t, c)
	if text, err := ask(p); text != "none HTTP/1.1 localhost" || err != nil {
		t.Errorf("got %q, %v", text, err)
	}
	c.TLS.ServerName = "other"
	p, _ = started(t, c)
	if _, err := ask(p); !errors.As(err, new(x509.HostnameError)) {
		t.Errorf("error %v, want that it is another host", err)
	}
}
