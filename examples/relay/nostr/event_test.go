package nostr_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	gonostr "github.com/nbd-wtf/go-nostr"

	"github.com/weir-go/weir/examples/relay/nostr"
)

func TestClassesOfKinds(t *testing.T) {
	for kind := range 65536 {
		e, peer := nostr.Event{Kind: kind}, gonostr.Event{Kind: kind}
		want := nostr.Regular
		switch {
		case peer.IsReplaceable():
			want = nostr.Replaceable
		case peer.IsEphemeral():
			want = nostr.Ephemeral
		case peer.IsAddressable():
			want = nostr.Addressable
		}
		if got := e.Class(); got != want {
			t.Fatalf("kind %d: class %d, want %d", kind, got, want)
		}
	}
}

func TestAddresses(t *testing.T) {
	author := nostr.PubKey{1}
	for _, test := range []struct {
		event nostr.Event
		want  string // "" for none
	}{
		{nostr.Event{Kind: 1}, ""},
		{nostr.Event{Kind: 20_000}, ""},
		{nostr.Event{Kind: 0, Tags: []nostr.Tag{{"d", "x"}}}, "0:" + author.String() + ":"},
		{nostr.Event{Kind: 30_000}, "30000:" + author.String() + ":"},
		{nostr.Event{Kind: 30_000, Tags: []nostr.Tag{{"d"}, {"d", "x"}}}, "30000:" + author.String() + ":"},
		{nostr.Event{Kind: 30_000, Tags: []nostr.Tag{{"e", "y"}, {"d", "a:b"}, {"d", "x"}}}, "30000:" + author.String() + ":a:b"},
	} {
		test.event.PubKey = author
		address, ok := test.event.Address()
		if ok != (test.want != "") || ok && address.String() != test.want {
			t.Errorf("kind %d %v: %v, %v, want %s", test.event.Kind, test.event.Tags, address, ok, test.want)
		}
		if again, parsed := nostr.ParseAddress(address.String()); ok && (!parsed || again != address) {
			t.Errorf("%v is read as %v", address, again)
		}
	}
	for _, text := range []string{
		"", "0", "0:" + id[1:] + ":", "1:" + id + ":", "x:" + id + ":", "-1:" + id + ":", "65536:" + id + ":", "0:" + id + ":d",
		"0:" + strings.ToUpper(id) + ":",
	} {
		if a, ok := nostr.ParseAddress(text); ok {
			t.Errorf("%q is read as %v", text, a)
		}
	}
}

func TestTheLaterVersionStays(t *testing.T) {
	early, late := nostr.Event{CreatedAt: 1, ID: nostr.ID{1}}, nostr.Event{CreatedAt: 2, ID: nostr.ID{2}}
	low := nostr.Event{CreatedAt: 2, ID: nostr.ID{1}}
	for _, test := range []struct {
		e, other *nostr.Event
		want     bool
	}{{&late, &early, true}, {&early, &late, false}, {&low, &late, true}, {&late, &low, false}, {&late, &late, false}} {
		if got := test.e.Replaces(test.other); got != test.want {
			t.Errorf("%v over %v: %v", test.e, test.other, got)
		}
	}
}

func TestDeletionsAreTheAuthorsOwn(t *testing.T) {
	author, other := nostr.PubKey{1}, nostr.PubKey{2}
	mine := nostr.Address{Kind: 30_000, PubKey: author, D: "x"}
	e := nostr.Event{PubKey: author, Kind: nostr.KindDeletion, Tags: []nostr.Tag{
		{"e", id},
		{"e", "not hexadecimal"},
		{"e"},
		{},
		{"p", id},
		{"a", mine.String()},
		{"a", "30000"},
		{"a", nostr.Address{Kind: 30_000, PubKey: other}.String()},
	}}
	ids, addresses := e.Deletions()
	if len(ids) != 1 || ids[0].String() != id || !reflect.DeepEqual(addresses, []nostr.Address{mine}) {
		t.Errorf("%v, %v", ids, addresses)
	}
}

func TestWhatTagsSay(t *testing.T) {
	for _, test := range []struct {
		tags      []nostr.Tag
		protected bool
	}{
		{nil, false},
		{[]nostr.Tag{{"-"}}, true},
		{[]nostr.Tag{{"-", "x"}, {}}, false},
		{[]nostr.Tag{{"t", "x"}, {"-"}}, true},
	} {
		e := nostr.Event{Tags: test.tags}
		if e.Protected() != test.protected {
			t.Errorf("%v: protected is %v", test.tags, e.Protected())
		}
	}
}

func TestAuthIsForThisRelayNow(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	genuine := nostr.Event{Kind: nostr.KindAuth, CreatedAt: now.Unix(), Tags: []nostr.Tag{{"relay", "wss://Relay.example.com/"}, {"challenge", "c"}}}
	for _, test := range []struct {
		change func(*nostr.Event)
		want   string
	}{
		{func(*nostr.Event) {}, ""},
		{func(e *nostr.Event) { e.CreatedAt += 600 }, ""},
		{func(e *nostr.Event) { e.CreatedAt += 601 }, "invalid: created_at is more than 10m0s from now"},
		{func(e *nostr.Event) { e.CreatedAt -= 601 }, "invalid: created_at is more than 10m0s from now"},
		{func(e *nostr.Event) { e.Kind = 1 }, "invalid: kind 1 in an AUTH: want 22242"},
		{func(e *nostr.Event) { e.Tags = e.Tags[:1] }, "invalid: the challenge is another one"},
		{func(e *nostr.Event) { e.Tags = e.Tags[1:] }, "invalid: the relay is wss://relay.example.com"},
		{func(e *nostr.Event) { e.Tags = []nostr.Tag{{"relay", "wss://other"}, e.Tags[1]} }, "invalid: the relay is wss://relay.example.com"},
		{func(e *nostr.Event) { e.Tags = []nostr.Tag{{"relay", "%"}, e.Tags[1]} }, "invalid: the relay is wss://relay.example.com"},
		{func(e *nostr.Event) { e.Tags = []nostr.Tag{{"relay", "wss://relay.example.com/x"}, e.Tags[1]} }, "invalid: the relay is wss://relay.example.com"},
	} {
		m := nostr.AuthMessage{Event: genuine}
		test.change(&m.Event)
		if got := errorText(m.Check("c", "wss://relay.example.com", now)); got != test.want {
			t.Errorf("%v: %q, want %q", m.Event, got, test.want)
		}
	}
	m := nostr.AuthMessage{Event: nostr.Event{Kind: nostr.KindAuth, CreatedAt: now.Unix(), Tags: []nostr.Tag{{"relay", "wss://relay.example.com"}}}}
	if m.Check("", "wss://relay.example.com", now) == nil {
		t.Error("without a challenge, every answer is right")
	}
}

func TestInformationHasTheLimits(t *testing.T) {
	limits := nostr.Limits{Subscription: 32, Future: time.Minute}
	text, err := json.Marshal(nostr.Information{Name: "relay", SupportedNIPs: []int{1}, Limitation: limits.Limitation()})
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"name":"relay","supported_nips":[1],"limitation":{"max_message_length":131072,"max_filters":10,"max_limit":500,"default_limit":500,` +
		`"max_subid_length":32,"max_event_tags":2000,"max_content_length":65536,"auth_required":false,"payment_required":false,` +
		`"restricted_writes":false,"created_at_upper_limit":60}}`
	if string(text) != want {
		t.Errorf("got %s\nwant %s", text, want)
	}
}
