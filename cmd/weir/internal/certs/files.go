// Package certs makes settings of TLS from files, and reads them again when they change.
package certs

import (
	"crypto/sha256"
	"crypto/tls"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Files are settings of TLS made from files. While changed files cannot be used, as when only the
// first of two was replaced, the settings from before stay. The methods are safe for concurrent
// use.
type Files struct {
	paths []string
	read  func() (*tls.Config, error)
	every time.Duration
	log   *slog.Logger
	now   func() time.Time // time.Now, but in tests

	current atomic.Pointer[tls.Config]

	mu     sync.Mutex // held while the files are looked at
	looked time.Time
	seen   []digest // of the files that were read last, whether they were good or not; nil before
	broken error    // why those that were read last are not current
}

// Open makes the settings with read, which it calls again when one of the paths has changed; an
// empty path is left out. Latest looks for that, and at most once in every, so that a flood of
// handshakes does not become a flood of system calls.
func Open(read func() (*tls.Config, error), every time.Duration, log *slog.Logger, paths ...string) (*Files, error) {
	f := &Files{read: read, every: every, log: log, now: time.Now}
	f.paths = slices.DeleteFunc(paths, func(path string) bool { return path == "" })
	return f, f.Refresh()
}

// Latest returns the settings, which the caller must not change. One caller looks at the files;
// others do not wait for it.
func (f *Files) Latest() *tls.Config {
	if f.mu.TryLock() {
		if f.now().Sub(f.looked) >= f.every {
			f.look()
		}
		f.mu.Unlock()
	}
	return f.current.Load()
}

// Refresh looks at the files now, and returns why those that were read last cannot be used.
func (f *Files) Refresh() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.look()
	return f.broken
}

// look reads the files if they have changed. The lock is held.
func (f *Files) look() {
	f.looked = f.now()
	digests, err := f.digests()
	if err == nil && f.seen != nil && slices.Equal(digests, f.seen) {
		return
	}
	config, err := f.read() // of a file that is missing it says which setting names it
	repeated := err != nil && f.broken != nil && err.Error() == f.broken.Error()
	f.seen, f.broken = digests, err
	had := f.current.Load() != nil
	switch {
	case err == nil:
		f.current.Store(config)
		if had {
			f.log.Info("certificates have changed and are used from now on", "files", f.paths)
		}
	case had && !repeated:
		f.log.Error("certificates have changed and cannot be used: the ones from before stay", "error", err)
	}
}

// A digest tells the contents of files apart. Their size and time do not: a file that is written in
// place with a certificate of the same length keeps both within one tick of the clock of its file
// system, which may be some milliseconds or two seconds.
type digest [sha256.Size]byte

// digests looks before the files are read: what is written meanwhile is read the next time.
func (f *Files) digests() ([]digest, error) {
	digests := make([]digest, 0, len(f.paths))
	for _, path := range f.paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		digests = append(digests, sha256.Sum256(text))
	}
	return digests, nil
}
