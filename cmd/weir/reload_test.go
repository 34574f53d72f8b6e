package main

import (
	"os"
	"syscall"
	"testing"
	"testing/synctest"
)

// A change of the file causes one reload, even if the script that writes it also sends
// SIGHUP. SIGHUP always reloads an unchanged file, because the files that it names may have
// changed.
func TestOneReloadForOneChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file, reloads := "a", 0
		hangup, changed := make(chan os.Signal), make(chan struct{})
		go eachChange(t.Context(), hangup, changed, func() ([]byte, error) { return []byte(file), nil }, func() { reloads++ })
		for _, step := range []struct {
			file   string
			hangup bool
			want   int
		}{
			{"b", true, 1},  // a script writes the file and sends SIGHUP,
			{"b", false, 1}, // and the watch sees the same change
			{"c", false, 2},
			{"c", true, 3},
			{"c", true, 4},
			{"b", false, 5},
		} {
			file = step.file
			if step.hangup {
				hangup <- syscall.SIGHUP
			} else {
				changed <- struct{}{}
			}
			if synctest.Wait(); reloads != step.want {
				t.Errorf("%+v: %d reloads", step, reloads)
			}
		}
	})
}
