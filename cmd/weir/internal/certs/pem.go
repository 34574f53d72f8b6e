package certs

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
)

// Pair reads a certificate and its key. An error names their settings.
func Pair(certificate, key string) ([]tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		return nil, fmt.Errorf("tls.certificate %q and tls.key %q: %w", certificate, key, err)
	}
	return []tls.Certificate{pair}, nil
}

// Authorities reads the certificates of authorities. An error names the setting.
func Authorities(setting, path string) (*x509.CertPool, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", setting, err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s: %s has no certificate: want PEM", setting, path)
	}
	// Another process may still be writing the file, or a full disk has cut it.
	if bytes.Count(text, []byte("BEGIN CERTIFICATE-----")) != bytes.Count(text, []byte("END CERTIFICATE-----")) {
		return nil, fmt.Errorf("%s: %s ends within a certificate: want all of it", setting, path)
	}
	return pool, nil
}
