// Package events reads the live events of a dashboard.
package events

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/weir-go/weir/internal/recording"
)

const (
	silence = 5 * time.Second // without an event, after which a connection counts as lost
	pause   = 2 * time.Second // before another try

	longestEvent = 4 << 20 // bytes: an hour of one limiter is less than one MB
	longestError = 1 << 10
)

// A Dashboard is the address of a dashboard, and its token.
type Dashboard struct {
	URL   *url.URL
	Token string // empty for none
}

// proxyPath is the dashboard of weir proxy on its admin address.
const proxyPath = "/-/weir/dash/"

// Parse reads an address: a URL, or a host and port.
func Parse(text string) (*url.URL, error) {
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("%q: want the address of a dashboard, such as 127.0.0.1:8081 or https://api.example.com/weir/", text)
	}
	return u, nil
}

// A refusedError is a dashboard's answer without events. Another try changes it only if the status
// is 500 or more.
type refusedError struct {
	status int
	text   string
}

// Error implements error, with advice.
func (e refusedError) Error() string {
	switch e.status {
	case http.StatusNotFound:
		return "there is no dashboard: want the address of its page"
	case http.StatusUnauthorized:
		return "the dashboard wants its token: want --token FILE with it"
	}
	return fmt.Sprintf("status %d: %q", e.status, e.text)
}

// Follow passes the messages about all limiters to take, and connects again when the connection is
// lost. It returns when ctx ends, when take returns an error, or when another try would not change
// the answer. It calls lost when a connection is lost, or cannot be made.
func (d Dashboard) Follow(ctx context.Context, take func(recording.Message) error, lost func(error)) error {
	var own error // of take
	taken := func(m recording.Message) error {
		own = take(m)
		return own
	}
	for {
		err := d.connect(ctx, taken)
		var refused refusedError
		if errors.As(err, &refused) && refused.status == http.StatusNotFound && strings.Trim(d.URL.Path, "/") == "" {
			d.URL = d.URL.ResolveReference(&url.URL{Path: proxyPath})
			continue
		}
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case own != nil:
			return own
		case errors.As(err, &refused) && refused.status < http.StatusInternalServerError:
			return refused
		}
		lost(err)
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

// client follows no redirection, which could lead the token elsewhere.
var client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// connect passes the messages of one connection to take.
func (d Dashboard) connect(ctx context.Context, take func(recording.Message) error) error {
	ctx, cut := context.WithCancelCause(ctx)
	defer cut(nil)
	quiet := time.AfterFunc(silence, func() { cut(fmt.Errorf("nothing came for %v", silence)) })
	defer quiet.Stop()
	target := d.URL.JoinPath("events")
	target.RawQuery = "all=1"
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return err
	}
	if d.Token != "" {
		request.Header.Set("Authorization", "Bearer "+d.Token)
	}
	answer, err := client.Do(request)
	if err != nil {
		return cause(ctx, err)
	}
	defer answer.Body.Close()
	content, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type")) // a proxy may add a charset
	if answer.StatusCode != http.StatusOK || content != "text/event-stream" {
		text, _ := io.ReadAll(io.LimitReader(answer.Body, longestError))
		if answer.StatusCode == http.StatusOK {
			return refusedError{http.StatusNotFound, ""}
		}
		return refusedError{answer.StatusCode, strings.TrimSpace(string(text))}
	}
	return cause(ctx, read(answer.Body, func(event string, data []byte) error {
		quiet.Reset(silence)
		if event == "recording" { // a recording comes at once, and nothing after it
			quiet.Stop()
		}
		m, known, err := recording.Parse(event, data)
		if err != nil || !known {
			return err
		}
		return take(m)
	}))
}

// cause returns the reason for which a connection was cut, or else the error.
func cause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// read cuts a stream into events: https://html.spec.whatwg.org/multipage/server-sent-events.html,
// as far as a dashboard uses it.
func read(in io.Reader, take func(event string, data []byte) error) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, longestEvent)
	event := ""
	for lines.Scan() {
		if name, ok := bytes.CutPrefix(lines.Bytes(), []byte("event: ")); ok {
			event = string(name)
		} else if data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: ")); ok {
			if err := take(event, data); err != nil {
				return err
			}
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return errors.New("the dashboard ended the stream")
}
