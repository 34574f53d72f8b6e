package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/cmd/weir/internal/events"
	"github.com/weir-go/weir/cmd/weir/internal/paths"
	"github.com/weir-go/weir/dash"
	"github.com/weir-go/weir/internal/browser"
	"github.com/weir-go/weir/internal/recording"
)

type recordCommand struct {
	Address *url.URL `arg:"" type:"dashboard" help:"Address of a dashboard: a URL, or host and port, such as the admin address of weir proxy."`
	File    string   `arg:"" help:"File to write. It must not exist yet."`

	Token    string        `placeholder:"FILE" help:"File with the token of the dashboard, if it wants one."`
	Duration time.Duration `type:"span" default:"1h" placeholder:"TIME" help:"How long to record (default ${default}); Ctrl-C ends it earlier. The hour before is recorded too, as far as the dashboard has it."`
}

// errRecorded ends a recording that is long enough.
var errRecorded = errors.New("recorded")

// Run records until the time is up, or ctx ends.
func (c recordCommand) Run(ctx context.Context, s streams) error {
	from := events.Dashboard{URL: c.Address}
	if c.Token != "" {
		token, err := config.ReadToken(c.Token)
		if err != nil {
			return usageError{fmt.Errorf("--token: %s: %w", c.Token, err)}
		}
		from.Token = token
	}
	file, err := os.OpenFile(c.File, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // it has names
	if errors.Is(err, fs.ErrExist) {
		return usageError{fmt.Errorf("%s: is there already: want a new file", c.File)}
	}
	if err != nil {
		return usageError{fmt.Errorf("%s: %w: want a new file", c.File, paths.Cause(err))}
	}
	fmt.Fprintf(s.err, "weir: recording %s for %v, or until Ctrl-C\n", c.Address, c.Duration)
	until, end := context.WithTimeoutCause(ctx, c.Duration, errRecorded)
	defer end()
	messages, err := c.record(until, from, file, s)
	err = errors.Join(err, file.Close())
	if messages == 0 {
		return errors.Join(cmp.Or(err, errors.New("nothing was recorded: the dashboard did not answer")), os.Remove(c.File))
	}
	if err == nil {
		_, err = fmt.Fprintf(s.out, "%s has %d messages: weir replay %s shows them\n", c.File, messages, c.File)
	}
	return err
}

// patience is how long a recording waits for the first answer: the server may just be starting.
const patience = 30 * time.Second

// record writes to the file and counts the messages.
func (c recordCommand) record(ctx context.Context, from events.Dashboard, file io.Writer, s streams) (messages int, err error) {
	w, err := recording.NewWriter(file)
	if err != nil {
		return 0, err
	}
	begun := time.Now()
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	err = from.Follow(ctx, func(m recording.Message) error {
		full, err := w.Write(m)
		if full {
			fmt.Fprintf(s.err, "weir: %s is full: it has %d readings\n", c.File, recording.MostReadings)
			return errRecorded
		}
		if err == nil {
			messages++
		}
		return err
	}, func(err error) {
		switch {
		case messages > 0:
			fmt.Fprintf(s.err, "weir: connection lost: %v; trying again\n", err)
		case time.Since(begun) < patience:
			fmt.Fprintf(s.err, "weir: no answer yet: %v; trying again\n", err)
		default:
			giveUp(fmt.Errorf("no dashboard answered within %v: want its address, such as the admin address of weir proxy: %w", patience, err))
		}
	})
	if errors.Is(err, errRecorded) || errors.Is(err, context.Canceled) {
		err = nil
	}
	return messages, err
}

type replayCommand struct {
	File string `arg:"" help:"Recording of weir record."`
}

// Run shows the recording in a browser until ctx ends.
func (c replayCommand) Run(ctx context.Context, s streams) error {
	file, err := os.Open(c.File)
	if err != nil {
		return usageError{fmt.Errorf("%s: %w: want a file of weir record", c.File, paths.Cause(err))}
	}
	defer file.Close()
	page, err := dash.Replay(file, dash.Config{Public: true})
	if err != nil {
		return usageError{fmt.Errorf("%s: %s", c.File, strings.TrimPrefix(err.Error(), weir.ErrConfig.Error()+": dash: "))}
	}
	_, end, err := browser.Show(ctx, page, s.err)
	if err != nil {
		return err
	}
	defer end()
	<-ctx.Done()
	return nil
}
