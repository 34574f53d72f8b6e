package relay_test

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/examples/relay/relay"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/load"
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
			must.Happen(t, "its place is free", func() bool {
				next, _, err := websocket.Dial(t.Context(), s.url, nil)
				if err == nil {
					t.Cleanup(func() { next.CloseNow() })
				}
				return err == nil
			})
		})
	}
}

func TestConfigurationsThatAreRefused(t *testing.T) {
	if _, err := relay.New(relay.Config{}); !errors.Is(err, relay.ErrConfig) || !errors.Is(err, weir.ErrConfig) || !strings.Contains(err.Error(), "Store is nil") {
		t.Errorf("without a store: %v", err)
	}
	for field, wrong := range map[string]any{
		"Connections": -1, "ConnectionsPerAddress": 1_000_001, "ConnectionRate": -1.0, "MessageRate": 1e7,
		"Processors": -1, "Queries": 10_001, "Subscriptions": -5, "Reads": -1, "Writes": 10_001, "Slice": -1,
	} {
		c := relay.Config{Store: &fake{}}
		reflect.ValueOf(&c).Elem().FieldByName(field).Set(reflect.ValueOf(wrong))
		if _, err := relay.New(c); !errors.Is(err, relay.ErrConfig) || !strings.Contains(err.Error(), field+" is ") {
			t.Errorf("%s %v: %v", field, wrong, err)
		}
	}
	const room = 64 << 20 / 4 / (48 << 10) // for connections, in a quarter of 64 MiB
	for want, c := range map[string]relay.Config{
		"Target": {Memory: 1},
		fmt.Sprintf("Connections is %d: want 0 (the default) to %d", room+1, room): {Memory: 64 << 20, Connections: room + 1},
	} {
		c.Store, c.Sources = &fake{}, []load.Source{relay.Idle{}}
		if _, err := relay.New(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	_, stop := build(t, relay.Config{Memory: 64 << 20, Connections: room})
	stop()
}
