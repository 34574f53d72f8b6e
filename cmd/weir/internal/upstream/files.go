package upstream

import (
	"crypto/tls"
	"log/slog"

	"github.com/weir-go/weir/cmd/weir/internal/certs"
	"github.com/weir-go/weir/cmd/weir/internal/config"
)

// newClientFiles reads the proxy's certificate and the authorities for an upstream. Each
// handshake checks the files for changes: there are few, because connections are kept.
func newClientFiles(c config.ClientTLS, log *slog.Logger) (*certs.Files, error) {
	return certs.Open(func() (*tls.Config, error) { return readClientFiles(c) }, 0, log, c.CA, c.Certificate, c.Key)
}

func readClientFiles(c config.ClientTLS) (settings *tls.Config, err error) {
	settings = &tls.Config{ServerName: c.ServerName}
	if c.CA != "" {
		if settings.RootCAs, err = certs.Authorities("tls.ca", c.CA); err != nil {
			return nil, err
		}
	}
	if c.Certificate != "" || c.Key != "" {
		settings.Certificates, err = certs.Pair(c.Certificate, c.Key)
	}
	return settings, err
}
