package demo

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/weir-go/weir/cmd/weir/internal/terminal"
	"github.com/weir-go/weir/internal/figures"
	"github.com/weir-go/weir/internal/must"
)

// seconds are the first n of a run, with a limit that grows.
func seconds(c course, n int) (past []second) {
	for i := range n {
		at := time.Duration(i+1) * time.Second
		phase := c.phase(at - 1)
		if at > time.Duration(c) {
			phase = len(phases)
		}
		past = append(past, second{at, phase, figures.Line{
			Limit: 10 * (i + 1), InFlight: 1000, Queued: 1000, P95: time.Minute, Admitted: 999, Refused: 999,
			Change: strings.Repeat("a very long reason ", 20),
		}, [3]int{0, 55, 110}})
	}
	return past
}

func TestFramesFitTheScreen(t *testing.T) {
	for _, columns := range []int{80, 81, 132, 160, 400} {
		for _, rows := range []int{24, 25, 30, 50, 120} {
			for _, length := range []course{course(Shortest), course(30 * time.Second), course(Longest)} {
				for _, n := range []int{0, 1, 17, int(time.Duration(length)/time.Second) + 2} {
					lines := frame(length, seconds(length, n), columns, rows)
					if len(lines) >= rows {
						t.Errorf("%d rows on a screen of %d", len(lines), rows)
					}
					for i, line := range lines {
						if w := width(line); w > columns && i != len(lines)-2 {
							t.Errorf("%d columns on a screen of %d: %v", w, columns, line)
						}
						if w := width(line.Cut(columns)); w > columns {
							t.Errorf("cut to %d columns of %d: %v", w, columns, line)
						}
					}
				}
			}
		}
	}
}

// TestFramesOfAnyScreen: a screen may shrink while the demonstration runs. A frame never
// exceeds it.
func TestFramesOfAnyScreen(t *testing.T) {
	for _, size := range [][2]int{{0, 0}, {1, 1}, {20, 5}, {40, 10}, {80, 12}, {79, 23}} {
		var out strings.Builder
		l := live{printer: printer{Writer: &out}, size: func() (columns, rows int) { return size[0], size[1] }}
		l.course, l.past = course(Shortest), seconds(course(Shortest), 2)
		l.draw()
		lines := strings.Split(escape.ReplaceAllString(out.String(), ""), "\r\n")
		if len(lines) > max(size[1]-1, 1) {
			t.Errorf("%v: %d rows", size, len(lines))
		}
		for _, line := range lines {
			if utf8.RuneCountInString(line) > size[0] {
				t.Errorf("%v: %q", size, line)
			}
		}
	}
}

func TestFrame(t *testing.T) {
	const want = `weir demo: three servers for 100 requests a second, each asked for 150
15 of 30 s [##########..........]  all servers are slow: 30% of their speed

in time, 1/s    |full           |slow            |full                now   mean
no limit


                ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁                               0    0.0
fixed limit 30

                █████████████████████████
                █████████████████████████                              55   55.0
adaptive        █████████████████████████
                █████████████████████████
                █████████████████████████
                █████████████████████████                             110  110.0

adaptive limit                   ▂▂▃▅▅▆▆█
                         ▂▃▃▅▅▆██████████
                ▂▂▃▃▅▆▆██████████████████                             150
adaptive: 1000 in flight, 1000 queued, p95 60.0s, 999 admitted/s, 999 refused/s
`
	var got strings.Builder
	c := course(30 * time.Second)
	for _, line := range frame(c, seconds(c, 15), leastColumns, leastRows) {
		fmt.Fprintln(&got, strings.TrimRight(line.Paint(false), " "))
	}
	if text, _, _ := strings.Cut(got.String(), "last change"); text != want {
		t.Errorf("got\n%swant\n%s", text, want)
	}
}

var escape = regexp.MustCompile(`\x1b\[[0-9;?]*[a-zA-Z]`)

func TestLiveViewLeavesTheScreenBeforeTheTable(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	out := &watched{want: "\x1b[J\x1b[H", found: interrupt} // the second frame
	size := func() (columns, rows int) { return 80, 24 }
	must.Do(t, Run(ctx, Config{Duration: Longest, Out: out, Size: size}))
	frames, after, found := strings.Cut(out.String(), terminal.Leave)
	if !found || !strings.HasPrefix(frames, terminal.Enter) {
		t.Fatalf("does not enter the other screen, or does not leave it: %q", out)
	}
	for _, want := range []string{"Three servers on loopback", "Interrupted after ", "p99 served", "\nadaptive "} {
		if !strings.Contains(after, want) {
			t.Errorf("no %q after the view:\n%s", want, after)
		}
	}
	if strings.Contains(after, "\x1b") || strings.Contains(after, "last change") {
		t.Errorf("colours that were not asked for, or lines a second, after the view:\n%s", after)
	}
	if n := strings.Count(after, "\n"); n >= leastRows {
		t.Errorf("%d lines after the view: they do not fit a screen", n)
	}
	if first, _, _ := strings.Cut(frames, "\x1b[J"); !strings.Contains(first, " 0 of 60 s") || strings.Count(first, "\n") >= leastRows {
		t.Errorf("first frame %q", escape.ReplaceAllString(first, ""))
	}
}

func TestSmallScreensGetLines(t *testing.T) {
	for _, size := range [][2]int{{79, 24}, {80, 23}, {0, 0}} {
		if v, live := (Config{Size: func() (int, int) { return size[0], size[1] }}).view().(lines); !live {
			t.Errorf("%v: %T", size, v)
		}
	}
	if _, live := (Config{Size: func() (int, int) { return 80, 24 }}).view().(*live); !live {
		t.Error("80 columns and 24 rows are enough")
	}
}

// TestTextsFitEightyColumns uses the longest duration.
func TestTextsFitEightyColumns(t *testing.T) {
	var out strings.Builder
	p := printer{Writer: &out}
	p.introduce(59999 * time.Millisecond)
	p.heads()
	p.introduceBulkhead(59999 * time.Millisecond)
	p.second(second{at: 59 * time.Second, adaptive: figures.Line{Limit: 100, P95: time.Second}})
	for line := range strings.Lines(out.String()) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 && !strings.Contains(line, "last change") {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// width is the columns of a row.
func width(r row) (n int) {
	for _, p := range r {
		n += utf8.RuneCountInString(p.Text)
	}
	return n
}
