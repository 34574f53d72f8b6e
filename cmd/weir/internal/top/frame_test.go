package top

import (
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/weir-go/weir/cmd/weir/internal/terminal"
	"github.com/weir-go/weir/internal/recording"
)

// full is a screen with much of everything, and hostile texts.
func full(limiters, points int) *Screen {
	const evil = "\x1b[2J\x1b]0;title\a\u202e\u200bname\n"
	s := &Screen{Title: evil, State: evil}
	var o recording.Overview
	for i := range limiters {
		o.Limiters = append(o.Limiters, recording.Line{Name: fmt.Sprint(evil, i), Limit: 20, P95: 88, Shadow: i == 0})
	}
	d := recording.Details{Name: evil + "0", Decision: evil, Refusals: []recording.Refusal{{Reason: evil, Total: 7, Rate: 1.5}}}
	for i := range points {
		d.Points = append(d.Points, recording.Point{At: int64(i), Limit: int32(i % 30), P95: 40})
		d.Changes = append(d.Changes, recording.Change{Text: fmt.Sprintf("%schange %d", evil, i)})
	}
	s.Take(recording.Message{Overview: &o})
	s.Take(recording.Message{Details: &d})
	return s
}

func textOf(rows []row, columns int) string {
	var out strings.Builder
	for _, r := range rows {
		out.WriteString(r.Cut(columns).Paint(false) + "\n")
	}
	return out.String()
}

func TestFramesFitTheScreen(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {160, 50}, {200, 120}} {
		for _, limiters := range []int{0, 1, 64} {
			for _, points := range []int{0, 1, 5000} {
				frame := full(limiters, points).Frame(size[0], size[1])
				text := textOf(frame, size[0])
				if len(frame) >= size[1] {
					t.Errorf("%d rows on %v with %d limiters and %d points", len(frame), size, limiters, points)
				}
				for _, r := range text {
					if r != '\n' && !unicode.IsPrint(r) {
						t.Fatalf("%q on the screen:\n%q", r, text)
					}
				}
				for _, m := range measures {
					if !strings.Contains(text, "\n"+m.name) {
						t.Errorf("no chart of %s on %v", m.name, size)
					}
				}
				if points > 1 && !strings.Contains(text, "change 4999") {
					t.Errorf("without the last change on %v:\n%s", size, text)
				}
			}
		}
	}
	for _, size := range [][2]int{{0, 0}, {1, 1}, {10, 3}, {79, 5}} {
		terminal.Draw(full(64, 100).Frame(size[0], size[1]), size[0], size[1], true)
	}
}

func TestFrame(t *testing.T) {
	s := &Screen{Title: "a:1", State: "live"}
	s.Take(recording.Message{Overview: &recording.Overview{More: 2, Limiters: []recording.Line{
		{Name: "search", Limit: 20, InFlight: 14, Queued: 3, P95: 88, Refused: 4.5}, {Name: "", Shadow: true},
	}}})
	s.Take(recording.Message{Details: &recording.Details{Name: "other", Points: make([]recording.Point, 9)}})
	s.Take(recording.Message{Details: &recording.Details{
		Name: "search", Decision: "p95 88ms near 90ms", Refusals: []recording.Refusal{{Reason: "queue full", Total: 7, Rate: 1.5}},
		Points:  []recording.Point{{Limit: 10}, {Limit: 20, P95: 88}},
		Changes: []recording.Change{{Text: "raised 10 to 20"}},
	}})
	text := textOf(s.Frame(40, 24), 80)
	for _, want := range []string{
		"weir top live  a:1\n",
		"search                        20        14       3     88 ms        4.5\n",
		"(no name)                      0         0       0         -        0.0 shadow\n",
		"2 more; --limiter shows one of them\n",
		"\nsearch  p95 88ms near 90ms\n",
		"██        20\n",
		"     88 ms\n",
		"refusals    queue full 7 (1.5/s)\n",
		"raised 10 to 20\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestScreensAreBounded(t *testing.T) {
	s := full(1, 5000)
	for range 3 {
		s.Take(recording.Message{Details: &recording.Details{Name: s.shown.Name, Points: make([]recording.Point, 600)}})
	}
	if len(s.shown.Points) != mostPoints || len(s.shown.Changes) != mostChanges {
		t.Errorf("%d readings, %d changes", len(s.shown.Points), len(s.shown.Changes))
	}
}
