package listen

import (
	"bytes"
	"crypto/tls"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/internal/certstest"
	"github.com/weir-go/weir/internal/must"
)

// secured is a listener with TLS, whose files a test may change.
type secured struct {
	*Listener
	t      *testing.T
	log    *bytes.Buffer
	signed *certstest.Authority
	files  config.ServerTLS
}

func startTLS(t *testing.T, next http.HandlerFunc, change func(*config.Listener)) *secured {
	t.Helper()
	dir := t.TempDir()
	s := &secured{t: t, log: new(bytes.Buffer), signed: certstest.New(t)}
	s.files = config.ServerTLS{Certificate: filepath.Join(dir, "cert"), Key: filepath.Join(dir, "key"), Clients: "require", Minimum: "1.2"}
	s.rotate("first")
	s.Listener = startLogging(t, slog.New(slog.NewTextHandler(s.log, nil)), next, func(c *config.Listener) {
		c.TLS = &s.files
		if change != nil {
			change(c)
		}
	})
	return s
}

func (s *secured) rotate(name string) {
	s.t.Helper()
	s.signed.Write(name, s.files.Certificate, s.files.Key)
}

// client trusts the listener's authority. Each of its requests opens a connection.
func (s *secured) client(certificates ...tls.Certificate) *http.Client {
	transport := &http.Transport{
		TLSClientConfig:   &tls.Config{RootCAs: s.signed.Pool(), Certificates: certificates, ClientSessionCache: tls.NewLRUClientSessionCache(1)},
		DisableKeepAlives: true, ForceAttemptHTTP2: true,
	}
	s.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: 10 * time.Second}
}

// served returns the name in the certificate that a new client receives.
func (s *secured) served() string {
	s.t.Helper()
	response, err := s.client().Get("https://" + s.Addr().String())
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	return response.TLS.PeerCertificates[0].Subject.CommonName
}

func TestProtocolsOfTLS(t *testing.T) {
	for want, protocols := range map[string][]string{"HTTP/2.0": nil, "HTTP/1.1": {"http1"}} {
		s := startTLS(t, hello, func(c *config.Listener) { c.Protocols = protocols })
		if status, text, proto := fetch(t, s.client(), "https://"+s.Addr().String()); status != http.StatusOK || proto != want {
			t.Errorf("%d %s by %s, want %s", status, text, proto, want)
		}
	}
}

// TestCertificatesAreReadAgain: Update reads them at once. Package certs tests the
// handshakes.
func TestCertificatesAreReadAgain(t *testing.T) {
	s := startTLS(t, hello, nil)
	s.rotate("second")
	update := func() error { return s.Update(settings(func(c *config.Listener) { c.TLS = &s.files })) }
	must.Do(t, update())
	if name := s.served(); name != "second" {
		t.Errorf("after Update: %s", name)
	}
	must.Write(t, s.files.Certificate, []byte("no certificate"))
	if err := update(); err == nil || !strings.HasPrefix(err.Error(), "listen: tls.certificate ") || !strings.Contains(err.Error(), s.files.Certificate) {
		t.Errorf("Update: %v", err)
	}
	if name := s.served(); name != "second" {
		t.Errorf("a broken certificate: %s, want the one before", name)
	}
	if _, err := New(settings(func(c *config.Listener) { c.TLS = &s.files }), http.NotFoundHandler(), slog.Default()); err == nil {
		t.Error("New takes a broken certificate")
	}
	if !strings.Contains(s.log.String(), "cannot be used") {
		t.Errorf("logged:\n%s", s.log)
	}
}

func TestClientCertificates(t *testing.T) {
	subject := func(w http.ResponseWriter, r *http.Request) {
		if chains := r.TLS.VerifiedChains; len(chains) > 0 {
			_, _ = io.WriteString(w, chains[0][0].Subject.CommonName)
		}
	}
	for _, clients := range []string{"require", "request"} {
		t.Run(clients, func(t *testing.T) {
			signer, stranger := certstest.New(t), certstest.New(t)
			ca := filepath.Join(t.TempDir(), "ca")
			must.Write(t, ca, signer.PEM())
			s := startTLS(t, subject, func(c *config.Listener) { c.TLS.ClientCA, c.TLS.Clients = ca, clients })
			url := "https://" + s.Addr().String()
			known := signer.Pair("known")
			unknown := stranger.Pair("unknown")
			resuming := s.client(known)
			for range 2 {
				if status, body, _ := fetch(t, resuming, url); status != http.StatusOK || body != "known" {
					t.Errorf("known: %d %s", status, body)
				}
			}
			if status, body, _ := fetch(t, s.client(unknown), url); status != 0 && body != "" {
				t.Errorf("unknown: %d %s", status, body)
			}
			if status, body, _ := fetch(t, s.client(), url); (status == http.StatusOK) != (clients == "request") {
				t.Errorf("none: %d %s", status, body)
			}

			must.Write(t, ca, stranger.PEM())
			must.Do(t, s.Update(settings(func(c *config.Listener) { c.TLS = &s.files })))
			if status, body, _ := fetch(t, resuming, url); status == http.StatusOK && body != "" {
				t.Errorf("resumed the session of a certificate that is not believed any more: %s", body)
			}
			if status, body, _ := fetch(t, s.client(unknown), url); status != http.StatusOK || body != "unknown" {
				t.Errorf("of the new authority: %d %s", status, body)
			}
		})
	}
}

func TestSessionsOutliveCertificates(t *testing.T) {
	resumed := func(w http.ResponseWriter, r *http.Request) {
		if r.TLS.DidResume {
			hello(w, r)
		}
	}
	s := startTLS(t, resumed, nil)
	c := s.client()
	fetch(t, c, "https://"+s.Addr().String())
	s.rotate("second")
	must.Do(t, s.Update(settings(func(c *config.Listener) { c.TLS = &s.files })))
	if _, body, _ := fetch(t, c, "https://"+s.Addr().String()); body != "hello" {
		t.Errorf("not resumed: %s", body)
	}
}

func TestMinimumVersion(t *testing.T) {
	s := startTLS(t, hello, func(c *config.Listener) { c.TLS.Minimum = "1.3" })
	c := s.client()
	c.Transport.(*http.Transport).TLSClientConfig.MaxVersion = tls.VersionTLS12
	if status, _, _ := fetch(t, c, "https://"+s.Addr().String()); status != 0 {
		t.Errorf("TLS 1.2: status %d", status)
	}
	must.Happen(t, "it is counted", func() bool { return s.Counts().Handshakes == 1 })
}

func TestHandshakes(t *testing.T) {
	s := startTLS(t, hello, func(c *config.Listener) { c.HeaderTimeout = short })
	_, answers := dial(t, s.Listener, "\x16\x03\x01") // and sends nothing more
	if _, err := answers.ReadByte(); err != io.EOF {
		t.Errorf("%v, want the connection closed", err)
	}
	must.Happen(t, "the slow one is counted", func() bool { return s.Counts().Handshakes == 1 })
	_, answers = dial(t, s.Listener, get)
	if status, _ := answer(t, answers); status != http.StatusBadRequest {
		t.Errorf("without TLS: status %d, want 400", status)
	}
	conn, _ := dial(t, s.Listener, "")
	conn.Close() // a port check
	must.Happen(t, "two of three failed", func() bool {
		n := s.Counts()
		return n.Open == 0 && n.Accepted == 3 && n.Handshakes == 2
	})
	s.Close()
	if n := s.Counts(); n.Handshakes != 2 {
		t.Errorf("%+v, want no failed handshake for the port check", n)
	}
	for _, why := range []string{"i/o timeout", "does not look like a TLS handshake"} {
		if n := strings.Count(s.log.String(), why); n != 1 {
			t.Errorf("%q is %d times in the log:\n%s", why, n, s.log)
		}
	}
}

func TestTLSBehindTheProxyProtocol(t *testing.T) {
	s := startTLS(t, addresses, func(c *config.Listener) { c.ProxyProtocol = []string{"127.0.0.1"} })
	conn, _ := dial(t, s.Listener, "PROXY TCP4 192.0.2.1 192.0.2.2 5000 80\r\n")
	secure := tls.Client(conn, &tls.Config{RootCAs: s.signed.Pool(), ServerName: "127.0.0.1"})
	defer secure.Close()
	_, _ = io.WriteString(secure, "GET / HTTP/1.0\r\nHost: h\r\n\r\n")
	if text, _ := io.ReadAll(secure); !strings.HasSuffix(string(text), "192.0.2.1:5000 by 127.0.0.1") {
		t.Errorf("%s", text)
	}
}
