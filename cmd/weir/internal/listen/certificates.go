package listen

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weir-go/weir/cmd/weir/internal/config"
)

// certificates are read from files, again when these change.
type certificates struct {
	files  config.ServerTLS
	protos []string // for ALPN
	log    *slog.Logger
	now    func() time.Time // time.Now, but in tests

	current atomic.Pointer[tls.Config]

	mu     sync.Mutex // held while the files are looked at
	looked time.Time
	seen   []os.FileInfo // of the files that were read last, whether they were good or not
	broken error         // why those that were read last are not current
}

// lookEvery is how often handshakes look whether the files have changed: no client waits for much longer than that for a new
// certificate, and a flood of handshakes does not become a flood of system calls.
const lookEvery = time.Second

func newCertificates(files config.ServerTLS, protocols []string, log *slog.Logger) (*certificates, error) {
	c := &certificates{files: files, log: log, now: time.Now}
	if speaks(protocols, "http2") {
		c.protos = append(c.protos, "h2")
	}
	if speaks(protocols, "http1") {
		c.protos = append(c.protos, "http/1.1")
	}
	return c, c.refresh()
}

// config is what the server starts from. Keys of session tickets are its own, so sessions outlive a change of the files; a
// session of a client certificate is resumed only while the authorities that signed it are still believed.
func (c *certificates) config() *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return c.latest(), nil },
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { // never asked, but the server wants to have one
			return &c.latest().Certificates[0], nil
		},
	}
}

// latest returns what the files say, looking at them if no one has for a second. Others do not wait meanwhile.
func (c *certificates) latest() *tls.Config {
	if c.mu.TryLock() {
		if c.now().Sub(c.looked) >= lookEvery {
			c.look()
		}
		c.mu.Unlock()
	}
	return c.current.Load()
}

// refresh looks at the files now, and returns why those that were read last cannot be used.
func (c *certificates) refresh() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.look()
	return c.broken
}

// look reads the files if they have changed, and keeps what it had if they cannot be used. The lock is held.
func (c *certificates) look() {
	c.looked = c.now()
	infos, err := c.stat()
	if err == nil && sameFiles(infos, c.seen) {
		return
	}
	var config *tls.Config
	if err == nil {
		config, err = c.load()
	}
	repeated := err != nil && c.broken != nil && err.Error() == c.broken.Error()
	c.seen, c.broken = infos, err
	had := c.current.Load() != nil
	if err == nil {
		c.current.Store(config)
		if had {
			c.log.Info("certificates have changed and are used from now on", "certificate", c.files.Certificate)
		}
	} else if had && !repeated {
		c.log.Error("certificates have changed and cannot be used: the ones from before stay", "error", err)
	}
}

func (c *certificates) stat() ([]os.FileInfo, error) {
	var infos []os.FileInfo
	for _, name := range []string{c.files.Certificate, c.files.Key, c.files.ClientCA} {
		if name == "" {
			continue
		}
		info, err := os.Stat(name)
		if err != nil {
			return nil, fmt.Errorf("listen: tls: %w", err)
		}
		infos = append(infos, info)
	}
	return infos, nil
}

func sameFiles(a, b []os.FileInfo) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !os.SameFile(a[i], b[i]) || a[i].Size() != b[i].Size() || !a[i].ModTime().Equal(b[i].ModTime()) {
			return false
		}
	}
	return true
}

func (c *certificates) load() (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(c.files.Certificate, c.files.Key)
	if err != nil {
		return nil, fmt.Errorf("listen: tls.certificate %s and tls.key %s: %w", c.files.Certificate, c.files.Key, err)
	}
	config := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: c.protos}
	if c.files.Minimum == "1.3" {
		config.MinVersion = tls.VersionTLS13
	}
	if c.files.ClientCA == "" {
		return config, nil
	}
	text, err := os.ReadFile(c.files.ClientCA)
	if err != nil {
		return nil, fmt.Errorf("listen: tls.client_ca: %w", err)
	}
	config.ClientCAs = x509.NewCertPool()
	if !config.ClientCAs.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("listen: tls.client_ca %s: no certificate in it: write PEM", c.files.ClientCA)
	}
	config.ClientAuth = tls.RequireAndVerifyClientCert
	if c.files.Clients == "request" {
		config.ClientAuth = tls.VerifyClientCertIfGiven
	}
	return config, nil
}
