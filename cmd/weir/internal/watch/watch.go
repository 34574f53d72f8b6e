// Package watch reports changes of a file.
//
// It watches the file's directory and not the file itself: editors replace files, and
// Kubernetes mounts a ConfigMap as a symbolic link to a directory, which it replaces. Changes
// come in groups, so a change is reported once the file has been stable for [Quiet], and
// after [Most] at the latest.
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
	// Quiet is how long the file must be stable before a change is reported. An editor writes
	// and renames within milliseconds.
	Quiet = 100 * time.Millisecond
	// Most bounds the delay of a change that is followed by others.
	Most = time.Second
)

// File returns a channel that receives when the contents of the file have changed, until ctx
// ends. The channel holds at most one change.
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

// differs returns a function that reports whether the file has changed since the last call.
// An unreadable file counts as empty.
func differs(file string) func() bool {
	last, _ := os.ReadFile(file)
	return func() bool {
		now, _ := os.ReadFile(file)
		changed := !bytes.Equal(now, last)
		last = now
		return changed
	}
}

// forward signals changed for each event, including events that the kernel dropped.
func forward(ctx context.Context, watcher *fsnotify.Watcher, changed chan<- struct{}) {
	for {
		select {
		case <-ctx.Done():
			return
		case event := <-watcher.Events:
			if event.Op == fsnotify.Chmod {
				continue // indexers and backups do it to unchanged files
			}
		case <-watcher.Errors: //nolint:errcheck // whatever the error, the file is checked
		}
		select {
		case changed <- struct{}{}:
		case <-ctx.Done():
			return
		}
	}
}

// debounce merges changes that follow one another, and reports each merged change for which
// matters returns true.
func debounce(ctx context.Context, changed <-chan struct{}, quiet, most time.Duration, matters func() bool) <-chan struct{} {
	reported := make(chan struct{}, 1)
	go func() {
		var calm, latest <-chan time.Time // nil without a pending change
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
			case reported <- struct{}{}:
			default: // the queued signal covers this change too
			}
		}
	}()
	return reported
}
