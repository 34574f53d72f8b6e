package events

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/recording"
)

const overview = "event: overview\ndata: {\"limiters\":[{\"name\":\"a\"}],\"more\":0}\n\n"

func stream(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	_, _ = io.WriteString(w, text)
	w.(http.Flusher).Flush()
}

func at(t *testing.T, address string) Dashboard {
	t.Helper()
	u := must.Have(Parse(address))(t)
	return Dashboard{URL: u, Token: "secret"}
}

var errEnough = errors.New("enough")

func enough(recording.Message) error { return errEnough }

func TestAddresses(t *testing.T) {
	for text, want := range map[string]string{
		"127.0.0.1:8081":                "http://127.0.0.1:8081",
		"localhost:8081/-/weir/dash/":   "http://localhost:8081/-/weir/dash/",
		"https://api.example.com/weir/": "https://api.example.com/weir/",
		"ftp://a":                       "", "": "", "http://": "", "http://a:b@c": "", "a?b": "", "http://a#b": "", "http://%": "",
	} {
		u, err := Parse(text)
		if want == "" && (err == nil || !strings.Contains(err.Error(), "want the address of a dashboard")) || want != "" && (err != nil || u.String() != want) {
			t.Errorf("%q: %v, %v", text, u, err)
		}
	}
}

func TestFollowFindsTheDashboardOfTheProxy(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/-/weir/dash/events", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("all") != "1" || r.Header.Get("Authorization") != "Bearer secret" {
			t.Errorf("asked for %s with %q", r.URL, r.Header.Get("Authorization"))
		}
		stream(w, "event: other\ndata: x\n\n"+overview)
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	if err := at(t, server.URL).Follow(t.Context(), enough, nil); err != errEnough {
		t.Error(err)
	}
}

func TestAnswersThatAnotherTryWouldNotChange(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the token went elsewhere: %v", r.Header)
	}))
	defer elsewhere.Close()
	answers := map[string]func(http.ResponseWriter, *http.Request){
		"wants its token":       func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) },
		"there is no dashboard": http.NotFound,
		"no dashboard: want":    func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") },
		`status 421: "\x1b[2J"`: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(421); _, _ = io.WriteString(w, "\x1b[2J") },
		"status 302":            func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, http.StatusFound) },
	}
	for want, answer := range answers {
		server := httptest.NewServer(http.HandlerFunc(answer))
		err := at(t, server.URL).Follow(t.Context(), enough, func(err error) { t.Errorf("tries again after %v", err) })
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		server.Close()
	}
}

type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// streams answers in the process, so that the time can be faked.
func streams(t *testing.T, body func(*http.Request) io.ReadCloser) {
	old := *client
	t.Cleanup(func() { *client = old })
	client.Transport = transport(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: body(r)}, nil
	})
}

func TestLostConnectionsAreMadeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		tries, got := 0, 0
		streams(t, func(r *http.Request) io.ReadCloser {
			body, in := io.Pipe()
			tries++
			go func() {
				switch tries {
				case 1:
					fmt.Fprint(in, overview)
					in.Close()
				case 2: // silence
					<-r.Context().Done()
					in.CloseWithError(r.Context().Err())
				case 3: // a recording may be silent
					fmt.Fprint(in, "event: recording\ndata: {}\n\n"+overview)
					time.Sleep(time.Hour)
					cancel()
					in.CloseWithError(context.Canceled)
				}
			}()
			if tries == 4 {
				t.Error("tries again after the end")
			}
			return body
		})
		var lost []string
		begun := time.Now()
		err := at(t, "a").Follow(ctx, func(recording.Message) error { got++; return nil }, func(err error) { lost = append(lost, err.Error()) })
		if !errors.Is(err, context.Canceled) || got != 2 || fmt.Sprint(lost) != "[the dashboard ended the stream nothing came for 5s]" {
			t.Errorf("%v, %d messages, lost %q", err, got, lost)
		}
		if took := time.Since(begun); took != time.Hour+silence+2*pause {
			t.Errorf("took %v", took)
		}
	})
}

func TestHostileEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for want, text := range map[string]string{
			"token too long":    "event: overview\ndata: " + strings.Repeat("x", longestEvent) + "\n\n",
			"invalid character": "event: details\ndata: <html>\n\n",
		} {
			streams(t, func(*http.Request) io.ReadCloser { return io.NopCloser(strings.NewReader(text)) })
			ctx, cancel := context.WithCancelCause(t.Context())
			err := at(t, "a").Follow(ctx, func(recording.Message) error { return nil }, func(err error) { cancel(err) })
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
		}
	})
}
