package upstream

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"

	"github.com/weir-go/weir/cmd/weir/internal/config"
)

// reloaded is a value made from files, which are read again when they change. It is safe for concurrent use.
type reloaded[T any] struct {
	paths []string
	read  func() (T, error)
	log   *slog.Logger

	mu     sync.Mutex
	value  T
	stamps []stamp // of the files that were read last
}

// A stamp changes when its file does.
type stamp struct{ changed, size int64 }

func newReloaded[T any](read func() (T, error), log *slog.Logger, paths ...string) (*reloaded[T], error) {
	r := &reloaded[T]{paths: paths, read: read, log: log}
	r.stamps = r.stat()
	var err error
	r.value, err = read()
	return r, err
}

// get reads files that have changed. While they cannot be used, as when only the first of two was replaced, it returns
// what they had before.
func (r *reloaded[T]) get() T {
	r.mu.Lock()
	defer r.mu.Unlock()
	stamps := r.stat()
	if slices.Equal(stamps, r.stamps) {
		return r.value
	}
	r.stamps = stamps // before reading: what is written meanwhile is read the next time
	value, err := r.read()
	if err != nil {
		r.log.Warn("files of TLS cannot be used, the old ones stay", "error", err)
		return r.value
	}
	r.value = value
	return value
}

func (r *reloaded[T]) stat() []stamp {
	stamps := make([]stamp, len(r.paths))
	for i, path := range r.paths {
		if info, err := os.Stat(path); err == nil {
			stamps[i] = stamp{info.ModTime().UnixNano(), info.Size()}
		}
	}
	return stamps
}

// newClientFiles reads the files by which the proxy and an upstream know each other.
func newClientFiles(c config.ClientTLS, log *slog.Logger) (*reloaded[*tls.Config], error) {
	var paths []string
	for _, path := range []string{c.CA, c.Certificate, c.Key} {
		if path != "" {
			paths = append(paths, path)
		}
	}
	return newReloaded(func() (*tls.Config, error) { return readClientFiles(c) }, log, paths...)
}

func readClientFiles(c config.ClientTLS) (*tls.Config, error) {
	read := &tls.Config{ServerName: c.ServerName}
	if c.CA != "" {
		text, err := os.ReadFile(c.CA)
		if err != nil {
			return nil, fmt.Errorf("tls.ca: %w", err)
		}
		read.RootCAs = x509.NewCertPool()
		if !read.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("tls.ca: %s has no certificate: want PEM", c.CA)
		}
	}
	if c.Certificate != "" || c.Key != "" {
		pair, err := tls.LoadX509KeyPair(c.Certificate, c.Key)
		if err != nil {
			return nil, fmt.Errorf("tls.certificate %q and tls.key %q: %w", c.Certificate, c.Key, err)
		}
		read.Certificates = []tls.Certificate{pair}
	}
	return read, nil
}
