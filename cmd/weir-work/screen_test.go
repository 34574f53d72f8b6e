//go:build unix

package main

import (
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/weir-go/weir/internal/handover"
	"github.com/weir-go/weir/internal/longtest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/tmux"
)

// TestWorkInATerminal: the figures fit a terminal of 80 by 24, whatever a job prints. The first
// Ctrl-C claims no more, the second ends the jobs.
func TestWorkInATerminal(t *testing.T) {
	longtest.Skip(t)
	at := folder(t)
	said(t, handover.Request{Enqueue: &handover.Enqueue{Queue: at, Payload: []string{"good", "bad", "long"}}}, "")
	work := script(at, `read job; case $job in bad) printf '\033[2J\007%0200d' 7; exit 65;; long) trap "" INT; sleep 60;; esac`)
	self := must.Have(os.Executable())(t)
	p := tmux.Open(t, 80, 24, []string{handover.Variable + "=" + encoded(t, handover.Request{Work: work})}, self)
	rows := p.Until("orders in ", "\nrunning   1 of ", "\nended     1 done, 1 attempts failed, 1 dead letters\n", "is a dead letter: exit status 65: ", "\nCtrl-C claims no more")
	for _, row := range rows {
		if n := utf8.RuneCountInString(row); n > 80 {
			t.Errorf("%d columns: %s", n, row)
		}
	}
	if n := strings.Count(strings.Join(rows, "\n"), "\nended "); len(rows) > 24 || n != 1 {
		t.Errorf("%d frames in %d rows:\n%s", n, len(rows), strings.Join(rows, "\n"))
	}
	p.Run("send-keys", "C-c")
	p.Until("\nrunning   1 of ", "\nCtrl-C ends the jobs that run, and they come back.")
	p.Run("send-keys", "C-c")
	p.Until("stopped before all jobs had ended", "exit status 1\n")
}
