package relay_test

import (
	"bytes"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/nbd-wtf/go-nostr"

	"github.com/weir-go/weir/examples/relay/protocol"
	"github.com/weir-go/weir/examples/relay/relay"
	"github.com/weir-go/weir/internal/must"
)

func TestEventIsAcknowledgedOnceItIsSaved(t *testing.T) {
	kept := &fake{}
	s := serve(t, relay.Config{Store: kept})
	c := s.client()
	e := someone.event(1, "hello")
	c.publish(e)
	if kept.len() != 1 {
		t.Fatal("the event was acknowledged and is not in the store")
	}
	c.send(eventMessage(e))
	c.want("OK", e.ID, true, "duplicate:*")
	if got := s.metric(`relay_events_total{outcome="duplicate"}`); got != "1" {
		t.Errorf("%s duplicates, want 1", got)
	}
}

func TestEventsThatAreRefused(t *testing.T) {
	altered := someone.event(1, "altered")
	altered.Content = "other"
	forged := someone.event(1, "forged")
	forged.Sig = someone.event(1, "another").Sig
	future := &nostr.Event{Kind: 1, CreatedAt: nostr.Timestamp(time.Now().Add(time.Hour).Unix())}
	someone.sign(future)
	for name, test := range map[string]struct {
		event  *nostr.Event
		reason string
		stage  string
	}{
		"altered":       {altered, "invalid:*", "verification"},
		"forged":        {forged, "invalid:*", "verification"},
		"future":        {future, "invalid: created_at*", "time"},
		"of 3,000 tags": {someone.event(1, "", slices.Repeat(nostr.Tags{{"t", "x"}}, 3000)...), "invalid:*", "parsing"},
		"of 70 KB":      {someone.event(1, strings.Repeat("x", 70_000)), "invalid:*", "parsing"},
	} {
		t.Run(name, func(t *testing.T) {
			kept := &fake{}
			s := serve(t, relay.Config{Store: kept})
			c := s.client()
			c.send(eventMessage(test.event))
			c.want("OK", test.event.ID, false, test.reason)
			if kept.len() > 0 {
				t.Error("it was saved")
			}
			if got := s.metric(`relay_refused_total{stage="` + test.stage + `"}`); got != "1" {
				t.Errorf("%s are counted by %s, want 1", got, test.stage)
			}
			c.publish(someone.event(1, "the connection goes on"))
		})
	}
}

func TestMessageThatIsTooLongEndsTheConnection(t *testing.T) {
	s := serve(t, relay.Config{})
	c := s.client()
	c.send(strings.Repeat("x", protocol.MaxMessage+1))
	if _, _, err := c.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusMessageTooBig {
		t.Errorf("the connection ended with %v, want 1009", err)
	}
	s.client().publish(someone.event(1, "others go on"))
	must.Happen(t, "one is counted", func() bool { return s.metric(`relay_refused_total{stage="size"}`) == "1" })
}

// TestStoreThatFails checks that the client learns nothing of the store, and that a full disk,
// on which every event fails, does not fill the log.
func TestStoreThatFails(t *testing.T) {
	var log bytes.Buffer
	failing := errors.New("no space left on device: /secret/path")
	kept := &fake{beforeSave: func(*nostr.Event) error { return failing }, beforeNext: func(nostr.Filter) error { return failing }}
	s := serve(t, relay.Config{Store: kept, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	c := s.client()
	for range 5 {
		e := someone.event(1, "")
		c.send(eventMessage(e))
		if reason := c.want("OK", e.ID, false, "error:*")[3].(string); strings.Contains(reason, "secret") {
			t.Errorf("the client hears of the store's insides: %s", reason)
		}
		c.send(`["REQ","a",{}]`)
		c.want("CLOSED", "a", "error:*")
	}
	c.send(`["COUNT","n",{}]`)
	c.want("CLOSED", "n", "error:*")
	if got := s.metric("relay_subscriptions"); got != "0" {
		t.Errorf("relay_subscriptions is %s, want 0", got)
	}
	c.CloseNow()
	s.stop()
	for _, failure := range []string{"was not saved", "a query failed"} {
		if n := strings.Count(log.String(), failure); n != 1 {
			t.Errorf("the log has %q %d times, want once a minute:\n%s", failure, n, &log)
		}
	}
}

// TestMessagesThatAreRefused checks that a malformed message is answered, and counted.
func TestMessagesThatAreRefused(t *testing.T) {
	s := serve(t, relay.Config{})
	c := s.client()
	c.send(`{`)
	c.want("NOTICE", "invalid:*")
	c.send(`["REQ","a",{"kinds":"x"}]`)
	c.want("CLOSED", "a", "invalid:*")
	must.Do(t, c.Write(t.Context(), websocket.MessageBinary, []byte(`["REQ","a",{}]`)))
	c.want("NOTICE", "invalid: a binary frame*")
	c.publish(someone.event(1, "the connection goes on"))
	if got := s.metric(`relay_refused_total{stage="parsing"}`); got != "3" {
		t.Errorf("%s are counted, want 3", got)
	}
}
