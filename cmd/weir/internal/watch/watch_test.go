package watch

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestChangesInAGroupAreOne(t *testing.T) {
	for _, test := range []struct {
		name    string
		changes int
		apart   time.Duration
		want    []time.Duration // since the first
	}{
		{"one", 1, 0, []time.Duration{100 * time.Millisecond}},
		{"an editor's", 3, 20 * time.Millisecond, []time.Duration{140 * time.Millisecond}},
		{"apart", 2, 300 * time.Millisecond, []time.Duration{100 * time.Millisecond, 400 * time.Millisecond}},
		{"without end", 35, 33 * time.Millisecond, []time.Duration{time.Second, 1222 * time.Millisecond}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				changed := make(chan struct{})
				told := debounce(ctx, changed, Quiet, Most)
				start := time.Now()
				var changes sync.WaitGroup
				changes.Go(func() {
					for range test.changes {
						changed <- struct{}{}
						time.Sleep(test.apart)
					}
				})
				for i, want := range test.want {
					<-told
					if got := time.Since(start); got != want {
						t.Errorf("change %d was told after %v, want %v", i, got, want)
					}
				}
				changes.Wait()
				cancel()
			})
		})
	}
}

func TestDirectory(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "weir.yaml")
	write(t, file, "a")
	changed, err := Directory(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range []struct {
		name string
		make func()
	}{
		{"written", func() { write(t, file, "b") }},
		{"replaced", func() {
			write(t, file+".new", "c")
			must(t, os.Rename(file+".new", file))
		}},
		{"mounted by Kubernetes", func() {
			must(t, os.Mkdir(filepath.Join(dir, "..2026"), 0o755))
			must(t, os.Symlink("..2026", filepath.Join(dir, "..data_tmp")))
			must(t, os.Rename(filepath.Join(dir, "..data_tmp"), filepath.Join(dir, "..data")))
		}},
	} {
		change.make()
		select {
		case <-changed:
		case <-time.After(10 * time.Second):
			t.Errorf("%s: no change was told", change.name)
		}
	}
}

func TestNoDirectory(t *testing.T) {
	if _, err := Directory(t.Context(), filepath.Join(t.TempDir(), "gone", "weir.yaml")); err == nil {
		t.Error("want an error for a directory that is not there")
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	must(t, os.WriteFile(file, []byte(text), 0o600))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
