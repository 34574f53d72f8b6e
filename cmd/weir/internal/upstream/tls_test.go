package upstream

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir/cmd/weir/internal/config"
)

// An authority signs certificates.
type authority struct {
	*x509.Certificate
	key *ecdsa.PrivateKey
	pem []byte
}

func newAuthority(t testing.TB) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &authority{cert, key, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}
}

// sign returns a certificate for a name and its key.
func (a *authority) sign(t testing.TB, name string) (cert, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.Certificate, &private.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	text, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: text})
}

// A folder has files whose changes show, however fast they follow each other.
type folder struct {
	testing.TB
	path    string
	changes time.Duration
}

func (f *folder) write(name string, text []byte) (path string) {
	f.Helper()
	path = filepath.Join(f.path, name)
	f.changes += time.Second
	if err := errors.Join(os.WriteFile(path, text, 0o600), os.Chtimes(path, time.Time{}, time.Unix(0, 0).Add(f.changes))); err != nil {
		f.Fatal(err)
	}
	return path
}

// secure starts a server that answers with the name in its client's certificate and the protocol. It closes its connections, so that each
// request makes a handshake.
func secure(t testing.TB, a *authority, name string, http2 bool) (url string) {
	t.Helper()
	pair, err := tls.X509KeyPair(a.sign(t, name))
	if err != nil {
		t.Fatal(err)
	}
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
	s.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequestClientCert}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s.URL
}

// ask returns the text that the pool's only server answers.
func ask(p *Pool) (string, error) {
	res, err := p.RoundTrip(httptest.NewRequest(http.MethodGet, "/", nil))
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	return string(text), err
}

func TestFilesOfTLSAreReadAgainWhenTheyChange(t *testing.T) {
	right, wrong, dir := newAuthority(t), newAuthority(t), &folder{TB: t, path: t.TempDir()}
	c := defaults(secure(t, right, "api.internal", false))
	cert, key := right.sign(t, "first")
	c.TLS = config.ClientTLS{
		CA: dir.write("ca.pem", wrong.pem), Certificate: dir.write("cert.pem", cert), Key: dir.write("key.pem", key), ServerName: "api.internal",
	}
	p, log := started(t, c)
	if _, err := ask(p); !errors.As(err, new(x509.UnknownAuthorityError)) {
		t.Fatalf("error %v, want that the authority is unknown", err)
	}
	dir.write("ca.pem", right.pem)
	step := func(want string) {
		t.Helper()
		if text, err := ask(p); text != want+" HTTP/1.1 api.internal" || err != nil {
			t.Fatalf("got %q, %v; want that of %s", text, err, want)
		}
	}
	step("first")
	cert, key = right.sign(t, "second")
	dir.write("cert.pem", cert)
	step("first") // the key is still the old one
	step("first")
	if n := log.count("files of TLS cannot be used, the old ones stay"); n != 1 {
		t.Errorf("logged %d times, want once", n)
	}
	dir.write("key.pem", key)
	step("second")
}

func TestUnusableFilesOfTLSAreAnError(t *testing.T) {
	dir := &folder{TB: t, path: t.TempDir()}
	cert, _ := newAuthority(t).sign(t, "x")
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
	a, dir := newAuthority(t), &folder{TB: t, path: t.TempDir()}
	c := defaults(strings.Replace(secure(t, a, "localhost", false), "127.0.0.1", "localhost", 1))
	c.TLS.CA = dir.write("ca.pem", a.pem)
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
