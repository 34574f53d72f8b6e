package relay_test

import (
	"errors"
	"io"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/examples/relay/protocol"
	"github.com/weir-go/weir/examples/relay/relay"
	"github.com/weir-go/weir/internal/must"
)

func TestConnectionsThatAreRefused(t *testing.T) {
	for name, test := range map[string]struct {
		conf   relay.Config
		admits int
		status int
	}{
		"in all":     {relay.Config{Connections: 3}, 3, http.StatusServiceUnavailable},
		"by address": {relay.Config{ConnectionsPerAddress: 3}, 3, http.StatusTooManyRequests},
		"by rate":    {relay.Config{ConnectionRate: 0.5}, 1, http.StatusServiceUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, test.conf)
			var last *client
			for range test.admits {
				last = s.client()
			}
			_, r, err := websocket.Dial(t.Context(), s.url, nil)
			if err == nil {
				t.Fatal("one more was admitted")
			}
			after, _ := strconv.Atoi(r.Header.Get("Retry-After"))
			if r.StatusCode != test.status || after < 1 {
				t.Errorf("%d, Retry-After %d, want %d", r.StatusCode, after, test.status)
			}
			if got := s.metric(`relay_refused_total{stage="admission"}`); got != "1" {
				t.Errorf("%s are counted, want 1", got)
			}
			if name == "by rate" {
				return
			}
			last.CloseNow()
			for s.metric("relay_connections") != "2" {
			}
			s.client()
		})
	}
}

func TestInformation(t *testing.T) {
	s := serve(t, relay.Config{Name: "a relay", Subscriptions: 7, Limits: protocol.Limits{Limit: 77}})
	ask := func(method, accept string) *http.Response {
		r, _ := http.NewRequestWithContext(t.Context(), method, s.url, nil)
		r.Header.Set("Accept", accept)
		answer := must.Have(http.DefaultClient.Do(r))(t)
		t.Cleanup(func() { answer.Body.Close() })
		return answer
	}
	answer := ask(http.MethodGet, "application/nostr+json")
	const want = `{"limitation":{"auth_required":false,"created_at_upper_limit":900,"default_limit":77,"max_content_length":65536,"max_event_tags":2000,` +
		`"max_filters":10,"max_limit":77,"max_message_length":131072,"max_subid_length":64,"max_subscriptions":7,"payment_required":false,"restricted_writes":false},` +
		`"name":"a relay","software":"https://github.com/weir-go/weir","supported_nips":[1,11,45]}` + "\n"
	if got, err := io.ReadAll(answer.Body); err != nil || string(got) != want {
		t.Errorf("%v: got %s\nwant %s", err, got, want)
	}
	if answer.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Error("pages of other origins cannot read it")
	}
	if got := ask(http.MethodGet, "text/html").Header.Get("Content-Type"); !strings.HasPrefix(got, "text/plain") {
		t.Errorf("people get %s", got)
	}
	if got := ask(http.MethodOptions, "").StatusCode; got != http.StatusNoContent {
		t.Errorf("OPTIONS: %d", got)
	}
	if got := ask(http.MethodPost, "").StatusCode; got != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", got)
	}
}

func TestConfigurationsThatAreRefused(t *testing.T) {
	if _, err := relay.New(relay.Config{}); !errors.Is(err, relay.ErrConfig) || !errors.Is(err, weir.ErrConfig) || !strings.Contains(err.Error(), "Store is nil") {
		t.Errorf("without a store: %v", err)
	}
	for field, wrong := range map[string]any{
		"Connections": -1, "ConnectionsPerAddress": 1_000_001, "ConnectionRate": -1.0, "MessageRate": 1e7,
		"Publishing": -1, "Processors": -1, "Queries": 10_001, "Subscriptions": -5, "Reads": -1, "Writes": 10_001, "Slice": -1, "Outbox": 100,
		"Ping": -time.Second, "Stall": -time.Second,
	} {
		c := relay.Config{Store: &fake{}}
		reflect.ValueOf(&c).Elem().FieldByName(field).Set(reflect.ValueOf(wrong))
		if _, err := relay.New(c); !errors.Is(err, relay.ErrConfig) || !strings.Contains(err.Error(), field+" is ") {
			t.Errorf("%s %v: %v", field, wrong, err)
		}
	}
	if _, err := relay.New(relay.Config{Store: &fake{}, Memory: 1}); err == nil || !strings.Contains(err.Error(), "Target") {
		t.Errorf("a target of a byte: %v", err)
	}
}
