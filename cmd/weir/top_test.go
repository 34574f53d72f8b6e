package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/weir-go/weir/internal/longtest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/tmux"
)

// openPane runs weir in a terminal.
func openPane(t *testing.T, columns, rows int, args ...string) tmux.Pane {
	t.Helper()
	weir := filepath.Join(t.TempDir(), "weir") // by this name, the test runs the command
	must.Do(t, os.Symlink(must.Have(os.Executable())(t), weir))
	return tmux.Open(t, columns, rows, nil, append([]string{weir}, args...)...)
}

func TestTopInATerminal(t *testing.T) {
	longtest.Skip(t)
	address, token := serveDash(t)
	p := openPane(t, 80, 24, "top", address, "--token", token, "--limiter", "search")
	for _, size := range [][2]int{{80, 24}, {160, 50}, {80, 24}} {
		p.Run("resize-window", "-x", fmt.Sprint(size[0]), "-y", fmt.Sprint(size[1]))
		var rows []string
		widest, begun := 0, time.Now()
		for widest != size[0] { // the values of the charts are at the edge
			if time.Since(begun) > 20*time.Second {
				t.Fatalf("%d columns on %v:\n%s", widest, size, strings.Join(rows, "\n"))
			}
			rows = p.Until("weir top live  "+address, "\n[2Jevil", "\nsearch", "refused/s", "limit  ", "refusals    none", "changes of the limit", "nothing to judge yet")
			widest = 0
			for _, row := range rows {
				widest = max(widest, utf8.RuneCountInString(row))
			}
		}
		if n := strings.Count(strings.Join(rows, "\n"), "weir top"); n != 1 {
			t.Errorf("%d frames on the screen:\n%s", n, strings.Join(rows, "\n"))
		}
	}
	p.Run("send-keys", "C-c")
	p.Until("exit status 0\n")
}

func TestTopPlaysARecording(t *testing.T) {
	longtest.Skip(t)
	file := filepath.Join(t.TempDir(), "a.jsonl")
	written(t, file, tape)
	p := openPane(t, 80, 24, "top", file, "--speed", "100")
	p.Until("the recording has ended", "\na  x\n", " 40 ms")
	p.Run("send-keys", "C-c")
	p.Until("exit status 0\n")

	written(t, file, tape+"x\n")
	p = openPane(t, 80, 24, "top", file, "--speed", "100")
	p.Until("looking for beginning of value", "exit status 2\n")
}

func TestTopNeedsATerminal(t *testing.T) {
	if status, _, said := ran(t, nil, "top", "127.0.0.1:1"); status == 0 || !strings.Contains(said, "the output is no terminal") {
		t.Errorf("status %d, %s", status, said)
	}
}

func TestPausesOfAPlayedRecording(t *testing.T) {
	for _, test := range []struct {
		ms    int64
		speed float64
		want  time.Duration
	}{{500, 1, 500 * time.Millisecond}, {500, 10, 50 * time.Millisecond}, {1e15, 1, longestPause}, {-5, 1, 0}} {
		if got := pauseOf(test.ms, test.speed); got != test.want {
			t.Errorf("%d ms at %g: %v, want %v", test.ms, test.speed, got, test.want)
		}
	}
}
