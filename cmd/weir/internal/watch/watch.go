// Package watch tells when a file has changed.
//
// It watches the file's directory and not the file itself: editors replace files, and Kubernetes
// mounts a ConfigMap as a symbolic link to a directory, which it exchanges. Changes come in groups,
// so one is told once nothing has changed for [Quiet], and after [Most] at the latest.
package watch

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// Quiet is how long nothing may change before a change is told. An editor writes and renames
	// within milliseconds.
	Quiet = 100 * time.Millisecond
	// Most is how long a change is held back when others follow it all the time.
	Most = time.Second
)

// File returns a channel that receives when the file has other bytes than before, until ctx ends.
// Only one change waits in the channel.
func File(ctx context.Context, file string) (<-chan struct{}, error) {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("cannot watch %s: %w", file, err)
	}
	directory := filepath.Dir(file)
	if err := watcher.Add(directory); err != nil {
		_ = watcher.Close()
		return nil, fmt.Errorf("cannot watch %s: %w", directory, err)
	}
	changed := make(chan struct{})
	go func() {
		defer watcher.Close()
		forward(ctx, watcher, changed)
	}()
	return debounce(ctx, changed, Quiet, Most, differs(file)), nil
}

// differs returns a function that reports whether the file has changed since the last call. One
// that cannot be read is empty.
func differs(file string) func() bool {
	last, _ := os.ReadFile(file)
	return func() bool {
		now, _ := os.ReadFile(file)
		changed := !bytes.Equal(now, last)
		last = now
		return changed
	}
}

// forward passes on that there were events. Those that the kernel dropped were events as well.
func forward(ctx context.Context, watcher *fsnotify.Watcher, changed chan<- struct{}) {
	for {
		select {
		case <-ctx.Done():
			return
		case event := <-watcher.Events:
			if event.Op == fsnotify.Chmod {
				continue // indexers and backups do it to files that stay as they are
			}
		case <-watcher.Errors: //nolint:errcheck // whatever it was, the file is looked at
		}
		select {
		case changed <- struct{}{}:
		case <-ctx.Done():
			return
		}
	}
}

// debounce makes one of several changes that follow one another, and tells those that matter.
func debounce(ctx context.Context, changed <-chan struct{}, quiet, most time.Duration, matters func() bool) <-chan struct{} {
	told := make(chan struct{}, 1)
	go func() {
		var calm, latest <-chan time.Time // nil while nothing has changed
		for {
			select {
			case <-ctx.Done():
				return
			case <-changed:
				calm = time.After(quiet)
				if latest == nil {
					latest = time.After(most)
				}
				continue
			case <-calm:
			case <-latest:
			}
			calm, latest = nil, nil
			if !matters() {
				continue
			}
			select {
			case told <- struct{}{}:
			default: // the one that waits there tells of this one too
			}
		}
	}()
	return told
}
