package main

import (
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// A change of the file causes one reload, even if the script that writes it also sends
// SIGHUP. SIGHUP always reloads an unchanged file, because the files that it names may have
// changed.
func TestOneReloadForOneChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file, reloads := "a", 0
		hangup, look := make(chan os.Signal), make(chan time.Time)
		go eachChange(t.Context(), hangup, look, func() []byte { return []byte(file) }, func() { reloads++ })
		synctest.Wait()
		for _, step := range []struct {
			file   string
			hangup bool
			want   int
		}{
			{"b", true, 1},  // a script writes the file and sends SIGHUP,
			{"b", false, 1}, // and two looks see the same change
			{"b", false, 1},
			{"c", false, 1}, // still being written
			{"d", false, 1},
			{"d", false, 2},
			{"d", false, 2},
			{"d", true, 3},
			{"d", true, 4},
			{"b", false, 4},
			{"b", false, 5},
		} {
			file = step.file
			if step.hangup {
				hangup <- syscall.SIGHUP
			} else {
				look <- time.Now()
			}
			if synctest.Wait(); reloads != step.want {
				t.Errorf("%+v: %d reloads", step, reloads)
			}
		}
	})
}
