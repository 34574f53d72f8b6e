package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"time"

	"github.com/weir-go/weir/cmd/weir/internal/events"
	"github.com/weir-go/weir/cmd/weir/internal/paths"
	"github.com/weir-go/weir/cmd/weir/internal/terminal"
	"github.com/weir-go/weir/cmd/weir/internal/top"
	"github.com/weir-go/weir/internal/recording"
)

type topCommand struct {
	Source string `arg:"" help:"Address of a dashboard: a URL, or host and port, such as the admin address of weir proxy. Or a file of weir record, which is played."`

	lookFlags
	Limiter string  `placeholder:"NAME" help:"The limiter whose charts are shown. Defaults to the first."`
	Speed   float64 `type:"factor" default:"1" placeholder:"F" help:"Play a file so many times as fast as it was recorded (default ${default})."`
}

// redraw is how often a change of the size of the screen is looked for.
const redraw = 250 * time.Millisecond

// Run shows the dashboard until ctx ends.
func (c topCommand) Run(ctx context.Context, s streams, env environ) error {
	size := screenSize(s.out, env)
	if size == nil {
		return usageError{errors.New("the output is no terminal that can be drawn on: want one, or weir record for a file")}
	}
	file, err := os.Open(c.Source)
	if err == nil {
		defer file.Close()
	}
	address, wrong := events.Parse(c.Source)
	if err != nil && wrong != nil {
		return usageError{fmt.Errorf("%w; and as a file: %w", wrong, paths.Cause(err))}
	}
	v := &viewer{screen: top.Screen{Title: c.Source, State: "connecting"}, out: s.out, size: size, color: colors(s.out, env)}
	_, _ = io.WriteString(s.out, terminal.Enter) // a failed write ends ctx
	defer func() { _, _ = io.WriteString(s.out, terminal.Leave) }()
	v.draw()
	if file != nil {
		err = v.play(ctx, file, c)
	} else {
		err = v.follow(ctx, address, c)
	}
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// A viewer draws a screen. All of it runs on one goroutine.
type viewer struct {
	screen top.Screen
	out    io.Writer
	size   func() (columns, rows int)
	color  bool
}

func (v *viewer) draw() {
	columns, rows := v.size()
	_, _ = io.WriteString(v.out, terminal.Draw(v.screen.Frame(columns, rows), columns, rows, v.color))
}

// follow shows a live dashboard.
func (v *viewer) follow(ctx context.Context, address *url.URL, c topCommand) error {
	from, err := c.at(address)
	if err != nil {
		return err
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	changes := make(chan func())
	do := func(change func()) {
		select {
		case changes <- change:
		case <-ctx.Done():
		}
	}
	go func() {
		end(from.Follow(ctx, url.Values{"limiter": {c.Limiter}}, func(m recording.Message) error {
			do(func() { v.screen.State = "live"; v.screen.Take(m) })
			return nil
		}, func(err error) { do(func() { v.screen.State = "connection lost: " + err.Error() }) }))
	}()
	return v.until(ctx, changes)
}

// until draws after each change, and now and then for the size of the screen.
func (v *viewer) until(ctx context.Context, changes <-chan func()) error {
	resized := time.NewTicker(redraw)
	defer resized.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case change := <-changes:
			change()
		case <-resized.C:
		}
		v.draw()
	}
}

// play shows a recording at its speed, and then its end until ctx ends.
func (v *viewer) play(ctx context.Context, file io.Reader, c topCommand) error {
	r, err := recording.NewReader(file)
	if err != nil {
		return usageError{fmt.Errorf("%s: %w", c.Source, err)}
	}
	last := int64(0)
	for {
		m, err := r.Next()
		if errors.Is(err, io.EOF) {
			v.screen.State = "the recording has ended"
			return v.until(ctx, nil)
		}
		if err != nil {
			return usageError{fmt.Errorf("%s: %w", c.Source, err)}
		}
		if d := m.Details; d != nil {
			c.Limiter = cmp.Or(c.Limiter, d.Name)
			if d.Name != c.Limiter || len(d.Points) == 0 {
				continue
			}
			at := d.Points[len(d.Points)-1].At
			if last > 0 {
				waited, stop := context.WithTimeout(ctx, pauseOf(at-last, c.Speed))
				_ = v.until(waited, nil) // until it is time
				stop()
			}
			last = at
			v.screen.State = "recorded at " + time.UnixMilli(at).Format(time.DateTime)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		v.screen.Take(m)
		v.draw()
	}
}

// longestPause is the most that a gap of a recording takes.
const longestPause = 2 * time.Second

func pauseOf(ms int64, speed float64) time.Duration {
	return time.Duration(min(max(float64(ms), 0)/speed*1e6, float64(longestPause)))
}
