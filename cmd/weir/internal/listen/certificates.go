package listen

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"time"

	"github.com/weir-go/weir/cmd/weir/internal/certs"
	"github.com/weir-go/weir/cmd/weir/internal/config"
)

// lookEvery is the least time between two checks of the files by handshakes. It bounds the delay of
// a new certificate.
const lookEvery = time.Second

func newCertificates(files config.ServerTLS, protocols []string, log *slog.Logger) (*certs.Files, error) {
	var alpn []string
	if speaks(protocols, "http2") {
		alpn = append(alpn, "h2")
	}
	if speaks(protocols, "http1") {
		alpn = append(alpn, "http/1.1")
	}
	read := func() (*tls.Config, error) {
		settings, err := readCertificates(files)
		if err != nil {
			return nil, fmt.Errorf("listen: %w", err)
		}
		settings.NextProtos = alpn
		return settings, nil
	}
	return certs.Open(read, lookEvery, log, files.Certificate, files.Key, files.ClientCA)
}

func readCertificates(files config.ServerTLS) (settings *tls.Config, err error) {
	settings = &tls.Config{MinVersion: tls.VersionTLS12}
	if files.Minimum == "1.3" {
		settings.MinVersion = tls.VersionTLS13
	}
	if settings.Certificates, err = certs.Pair(files.Certificate, files.Key); err != nil || files.ClientCA == "" {
		return settings, err
	}
	settings.ClientAuth = tls.RequireAndVerifyClientCert
	if files.Clients == "request" {
		settings.ClientAuth = tls.VerifyClientCertIfGiven
	}
	settings.ClientCAs, err = certs.Authorities("tls.client_ca", files.ClientCA)
	return settings, err
}

// asked returns the server's initial configuration, with which each handshake gets the latest
// settings. The server has its own keys of session tickets, so sessions outlive a change of the
// files. A session with a client certificate is resumed only while the authorities that signed the
// certificate are trusted.
func asked(files *certs.Files) *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return files.Latest(), nil },
	}
}
