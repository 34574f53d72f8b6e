package nostr_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	gonostr "github.com/nbd-wtf/go-nostr"

	"github.com/weir-go/weir/examples/relay/nostr"
)

// isReason checks that a reason begins with a prefix of the protocol.
func isReason(t *testing.T, reason string) {
	t.Helper()
	prefix, text, _ := strings.Cut(reason, ": ")
	if p := nostr.Prefix(prefix); p != nostr.Invalid && p != nostr.Unsupported || text == "" {
		t.Errorf("reason %q", reason)
	}
}

// A peer reads every message of the relay.
func TestAPeerReadsOurAnswers(t *testing.T) {
	e := signed(t, peerNote)
	reason := nostr.Reason(nostr.RateLimited, "come back in %d s: \"%s\"", 2, "é\n")
	text, count, challenge := "rate-limited: come back in 2 s: \"é\n\"", int64(7), "a\"b"
	subscription := "s\\1"
	closed := gonostr.ClosedEnvelope{SubscriptionID: subscription, Reason: text}
	notice := gonostr.NoticeEnvelope(text)
	eose := gonostr.EOSEEnvelope(subscription)
	for _, test := range []struct {
		written []byte
		want    gonostr.Envelope
	}{
		{nostr.AppendEOSE(nil, subscription), &eose},
		{nostr.AppendOK(nil, e.ID, true, ""), &gonostr.OKEnvelope{EventID: e.ID.String(), OK: true}},
		{nostr.AppendOK(nil, e.ID, false, reason), &gonostr.OKEnvelope{EventID: e.ID.String(), Reason: text}},
		{nostr.AppendNotice(nil, reason), &notice},
		{nostr.AppendClosed(nil, subscription, reason), &closed},
		{nostr.AppendAuth(nil, challenge), &gonostr.AuthEnvelope{Challenge: &challenge}},
		{nostr.AppendCount(nil, subscription, int(count)), &gonostr.CountEnvelope{SubscriptionID: subscription, Count: &count}},
	} {
		if got := gonostr.ParseMessage(test.written); !reflect.DeepEqual(got, test.want) || !json.Valid(test.written) {
			t.Errorf("%s is read as %+v, want %+v", test.written, got, test.want)
		}
	}

	written := nostr.AppendEventMessage(nil, subscription, &e)
	got, ok := gonostr.ParseMessage(written).(*gonostr.EventEnvelope)
	if !ok || *got.SubscriptionID != subscription || got.GetID() != e.ID.String() || !json.Valid(written) {
		t.Errorf("%s is read as %+v", written, got)
	}
}

// Our parser reads the messages of a peer.
func TestOurReadingOfAPeersMessages(t *testing.T) {
	e := signed(t, peerNote)
	peer := *ofPeer(&e)
	if err := peer.Sign(secret); err != nil {
		t.Fatal(err)
	}
	closing := gonostr.CloseEnvelope("s")
	filters := gonostr.Filters{{Kinds: []int{1}, Limit: 10}, {Limit: 1000}, {LimitZero: true}, {}}
	kinds := []int{1}
	for _, test := range []struct {
		sent gonostr.Envelope
		want nostr.Message
	}{
		{&gonostr.EventEnvelope{Event: peer}, &nostr.EventMessage{Event: e}},
		{&gonostr.AuthEnvelope{Event: peer}, &nostr.AuthMessage{Event: e}},
		{&closing, &nostr.CloseMessage{Subscription: "s"}},
		{
			&gonostr.ReqEnvelope{SubscriptionID: "s", Filters: filters},
			&nostr.ReqMessage{Subscription: "s", Filters: []nostr.Filter{{Kinds: kinds, Limit: 10}, {Limit: 500}, {Limit: 0}, {Limit: 500}}},
		},
		{
			&gonostr.CountEnvelope{SubscriptionID: "s", Filters: filters},
			&nostr.CountMessage{Subscription: "s", Filters: []nostr.Filter{{Kinds: kinds, Limit: -1}, {Limit: -1}, {Limit: -1}, {Limit: -1}}},
		},
	} {
		text, err := test.sent.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := nostr.ParseMessage(text, nostr.Limits{}); err != nil || !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s is read as %+v, %v, want %+v", text, got, err, test.want)
		}
	}
}
