package bulk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/weir-go/weir/internal/must"
)

func TestRejectsAreKeptInOrderAndOnce(t *testing.T) {
	const n = 3000
	journal, rejects := files(t)
	const earlier = `{"line":7,"error":"of an earlier import"}` + "\n"
	must.Do(t, os.WriteFile(rejects, []byte(earlier), 0o600))
	s := newStore()
	boom := errors.New("boom")
	stop := int64(1500)
	s.fail = func(l Line) error {
		if state, known, err := readJournal(journal); !known || err != nil || state.Rejects < int64(len(earlier)) {
			return fmt.Errorf("the journal says %+v, %v: it has to know of earlier rejects from the start", state, err)
		}
		switch {
		case l.Number == stop:
			return boom
		case l.Number%10 == 0:
			return Reject(errors.New("bad"))
		}
		return nil
	}
	conf := Config{Write: s.write, Journal: journal, Rejects: rejects}
	if _, err := Run(t.Context(), strings.NewReader(numbered(n)), conf); !errors.Is(err, boom) {
		t.Fatal(err)
	}
	f := must.Have(os.OpenFile(rejects, os.O_APPEND|os.O_WRONLY, 0))(t)
	must.Have(f.WriteString(`{"line":2990,"error":"written before the process was killed, ahead of the journal"}` + "\n"))(t)
	f.Close()

	stop = 0
	p, err := Run(t.Context(), strings.NewReader(numbered(n)), conf)
	if err != nil || p.Rejected != n/10 || p.Lines != n {
		t.Fatalf("%+v, %v", p, err)
	}
	all := rejected(t, rejects)
	if len(all) != 1+n/10 || all[0].Line != 7 {
		t.Fatalf("%d rejects, want %d and that of an earlier import", len(all), n/10)
	}
	all, text := all[1:], numbered(n)
	for i, r := range all {
		line := int64(10 * (i + 1))
		if r.Line != line || r.Error != "bad" || r.Text != "line "+strconv.FormatInt(line, 10) || r.Byte != int64(strings.Index(text, "line "+strconv.FormatInt(line, 10)+"\n")) {
			t.Fatalf("reject %d is %+v", i, r)
		}
	}
	must.Do(t, os.Truncate(rejects, 5))
	if _, err := Run(t.Context(), strings.NewReader(numbered(n)), conf); !errors.Is(err, ErrChanged) {
		t.Errorf("a file of rejects that was cut: %v", err)
	}
}

func TestFullDiskUnderTheRejects(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full")
	}
	_, err := Run(t.Context(), strings.NewReader(numbered(1000)), Config{
		Rejects: "/dev/full", Write: func(context.Context, Line) error { return Reject(errors.New("bad")) },
	})
	if err == nil || !strings.Contains(err.Error(), "bulk: rejects: write /dev/full: no space left on device") {
		t.Errorf("got %v", err)
	}
}

// Rejects that are lost with the power would be in no file, for the journal is behind their lines.
func TestRejectsAreOnDisk(t *testing.T) {
	_, err := Run(t.Context(), strings.NewReader(numbered(1)), Config{
		Rejects: deaf(t), Write: func(context.Context, Line) error { return Reject(errors.New("bad")) },
	})
	if err == nil || !strings.HasPrefix(err.Error(), "bulk: rejects: sync ") {
		t.Errorf("%v, want that the rejects could not be synced", err)
	}
}
