package main

import (
	"bytes"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/law"
)

// limitFlags are the settings of the limiter. A missing flag is zero, which means the
// library's default; an explicit zero is only accepted where zero is a valid setting.
type limitFlags struct {
	Law        lawFlag `placeholder:"LAW" help:"Control law that finds the limit: ${laws}. Defaults to setpoint, which needs no target. See weir help laws."`
	Min        count   `placeholder:"N" help:"Least limit. Defaults to 1."`
	Max        count   `placeholder:"N" help:"Greatest limit. Defaults to 100000."`
	Initial    count   `placeholder:"N" help:"Limit to start from. Defaults to 4 with setpoint, to 20 with other laws."`
	Interval   span    `placeholder:"TIME" help:"How often the law decides. Defaults to 1s."`
	Window     span    `placeholder:"TIME" help:"How far back it looks. Defaults to 10s."`
	MinSamples count   `placeholder:"N" help:"Answers that a decision takes at least. Defaults to 20."`

	Queue        size   `default:"1000" placeholder:"N" help:"Requests that may wait for a slot (default ${default}); 0 refuses them at once."`
	QueueTimeout span   `placeholder:"TIME" help:"How long one may wait. Defaults to 1s."`
	QueueOrder   string `enum:"fifo,adaptive" default:"adaptive" help:"Which request is served next: fifo, or adaptive (the newest first once the queue stands; the default)."`

	Shadow bool `help:"Admit everything, and count what would have been refused."`
}

// compartment returns the limit that the flags describe.
func (f limitFlags) compartment() config.Compartment {
	c := config.New[config.Compartment]()
	c.Min, c.Max, c.Initial = int(f.Min), int(f.Max), int(f.Initial)
	if f.Law.law != nil {
		c.Law = config.Law{Law: f.Law.law}
	}
	c.Interval, c.Window, c.MinSamples = config.Duration(f.Interval), config.Duration(f.Window), int(f.MinSamples)
	c.Queue = config.Queue{Size: int(f.Queue), Timeout: config.Duration(f.QueueTimeout), Order: f.QueueOrder}
	c.Shadow = f.Shadow
	return c
}

// lawFlag is a control law in its text form.
type lawFlag struct{ law law.Law }

func (f *lawFlag) UnmarshalText(text []byte) (err error) {
	f.law, err = law.Parse(string(text))
	return err
}

// count is a positive integer.
type count int

func (c *count) UnmarshalText(text []byte) error { return readNumber((*int)(c), text, 1) }

// size is a non-negative integer.
type size int

func (s *size) UnmarshalText(text []byte) error { return readNumber((*int)(s), text, 0) }

func readNumber(into *int, text []byte, atLeast int) error {
	n, err := strconv.Atoi(string(text))
	if err != nil || n < atLeast {
		return fmt.Errorf("%q: want a whole number, %d or more", text, atLeast)
	}
	*into = n
	return nil
}

// span is a positive duration.
type span time.Duration

func (s *span) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(string(text))
	if err != nil || d <= 0 {
		return fmt.Errorf("%q: want a time above 0, such as 500ms", text)
	}
	*s = span(d)
	return nil
}

// pause is a non-negative duration.
type pause time.Duration

func (p *pause) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(string(text))
	if err != nil || d < 0 {
		return fmt.Errorf("%q: want a time such as 30s, or 0 for none", text)
	}
	*p = pause(d)
	return nil
}

// path is the path of a URL.
type path string

func (p *path) UnmarshalText(text []byte) error {
	if !bytes.HasPrefix(text, []byte("/")) {
		return fmt.Errorf("%q: want a path such as /healthz", text)
	}
	*p = path(text)
	return nil
}

// upstream is the address of the server behind the proxy.
type upstream struct{ url *url.URL }

func (u *upstream) UnmarshalText(text []byte) error {
	parsed, err := url.Parse(string(text))
	if err != nil || (parsed.Scheme != "http" && parsed.Scheme != "https") || parsed.Hostname() == "" ||
		parsed.User != nil || parsed.RawQuery != "" || parsed.Fragment != "" {
		return fmt.Errorf("%q: want a URL such as http://127.0.0.1:9000", text)
	}
	u.url = parsed
	return nil
}

func (u upstream) String() string { return u.url.String() }
