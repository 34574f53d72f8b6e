// Package certs reads TLS settings from files, and reads them again when the files change.
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

// Files are TLS settings made from files. If changed files cannot be used, for example
// because only the first of two was replaced, the previous settings remain. The methods are
// safe for concurrent use.
type Files struct {
	paths []string
	read  func() (*tls.Config, error)
	every time.Duration
	log   *slog.Logger
	now   func() time.Time // replaced in tests

	current atomic.Pointer[tls.Config]

	mu     sync.Mutex // held while the files are checked
	looked time.Time
	seen   []digest // of the files read last, good or bad; nil at first
	broken error    // why the files read last are not in use
}

// Open makes the settings with read, and calls read again when one of the paths has changed;
// empty paths are ignored. Latest checks for changes, at most once in every interval, so that
// a flood of handshakes does not cause a flood of system calls.
func Open(read func() (*tls.Config, error), every time.Duration, log *slog.Logger, paths ...string) (*Files, error) {
	f := &Files{read: read, every: every, log: log, now: time.Now}
	f.paths = slices.DeleteFunc(paths, func(path string) bool { return path == "" })
	return f, f.Refresh()
}

// Latest returns the settings, which the caller must not change. One caller checks the files;
// concurrent callers do not wait for that caller.
func (f *Files) Latest() *tls.Config {
	if f.mu.TryLock() {
		if f.now().Sub(f.looked) >= f.every {
			f.look()
		}
		f.mu.Unlock()
	}
	return f.current.Load()
}

// Refresh checks the files now. It returns an error if the files read last cannot be used.
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
	config, err := f.read() // for a missing file the error names the setting
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

// A digest identifies the contents of files. Size and time do not: a file overwritten in
// place with a certificate of the same length keeps both within one tick of the file system's
// clock, which may be some milliseconds or two seconds.
type digest [sha256.Size]byte

// digests returns a digest of each file. It runs before the files are read, so that the next check
// notices a concurrent change.
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
