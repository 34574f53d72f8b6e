package watch

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/internal/must"
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
				told := debounce(ctx, changed, Quiet, Most, func() bool { return true })
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

func TestFile(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.Mkdir(filepath.Join(dir, "..1"), 0o755))
	must.Do(t, os.Symlink("..1", filepath.Join(dir, "..data")))
	must.Do(t, os.Symlink(filepath.Join("..data", "weir.yaml"), filepath.Join(dir, "weir.yaml")))
	write(t, filepath.Join(dir, "..1", "weir.yaml"), "a")
	file := filepath.Join(dir, "weir.yaml")
	changed := must.Have(File(t.Context(), file))(t)
	for _, change := range []struct {
		name string
		make func()
	}{
		{"exchanged by Kubernetes", func() {
			must.Do(t, os.Mkdir(filepath.Join(dir, "..2"), 0o755))
			write(t, filepath.Join(dir, "..2", "weir.yaml"), "b")
			must.Do(t, os.Symlink("..2", filepath.Join(dir, "..data_tmp")))
			must.Do(t, os.Rename(filepath.Join(dir, "..data_tmp"), filepath.Join(dir, "..data")))
		}},
		{"replaced by an editor", func() {
			write(t, file+".new", "c")
			must.Do(t, os.Rename(file+".new", file))
		}},
		{"written", func() { write(t, file, "d") }},
		{"removed", func() { must.Do(t, os.Remove(file)) }},
	} {
		change.make()
		select {
		case <-changed:
		case <-time.After(time.Minute):
			t.Errorf("%s: no change was told", change.name)
		}
	}
}

func TestOnlyOtherBytesAreAChange(t *testing.T) {
	file := filepath.Join(t.TempDir(), "weir.yaml")
	write(t, file, "a")
	changed := differs(file)
	for i, step := range []struct {
		text string
		want bool
	}{{"a", false}, {"b", true}, {"b", false}, {"a", true}} {
		write(t, file, step.text)
		if got := changed(); got != step.want {
			t.Errorf("step %d: changed is %v, want %v", i, got, step.want)
		}
	}
}

func TestNoDirectory(t *testing.T) {
	if _, err := File(t.Context(), filepath.Join(t.TempDir(), "gone", "weir.yaml")); err == nil {
		t.Error("want an error for a directory that is not there")
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	must.Do(t, os.WriteFile(file, []byte(text), 0o600))
}
