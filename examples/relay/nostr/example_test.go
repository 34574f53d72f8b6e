package nostr_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/weir-go/weir/examples/relay/nostr"
)

func ExampleParseMessage() {
	for _, text := range []string{`["REQ","feed",{"kinds":[1],"limit":20}]`, `["REQ","feed",{"kinds":["note"]}]`} {
		m, err := nostr.ParseMessage([]byte(text), nostr.Limits{})
		var refused *nostr.ParseError
		switch {
		case errors.As(err, &refused):
			fmt.Printf("%s\n", refused.AppendAnswer(nil))
		default:
			fmt.Printf("%+v\n", m)
		}
	}
	// Output:
	// &{Subscription:feed Filters:[{IDs:[] Authors:[] Kinds:[1] Tags:map[] Since:0 Until:0 Limit:20}]}
	// ["CLOSED","feed","invalid: \"kinds\": want a number at byte 24"]
}

const genuine = `{"id":"07d9b0155ee687c97298aa8cb1b107e88408c711a71ecd02f1bca7ac14dd0c9c","pubkey":"1b84c5567b126440995d3ed5aaba0565d71e1834604819ff9c17f5e9d5dd078f","created_at":1700000000,"kind":1,"tags":[["t","weir"]],"content":"hello","sig":"c456ad86c57ab1ef5298662c81c55967a22899a61c1bf1d69d41cc8eb45b89301f08427466b185faf03405d5c2fc8fcf548062dd489f64be1dddbc405a120867"}`

func ExampleParseEvent() {
	e, err := nostr.ParseEvent([]byte(genuine), nostr.Limits{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(e.Content, e.Verify())
	e.Content = "something else"
	fmt.Println(e.Verify())
	// Output:
	// hello <nil>
	// invalid: the id is not the hash of the event
}

func ExampleParseFilter() {
	f, err := nostr.ParseFilter([]byte(`{"authors":[],"search":"ignored"}`), nostr.Limits{})
	fmt.Println(f.Matches(&nostr.Event{}), f.Limit, err)
	_, err = nostr.ParseFilter([]byte(`{"#topic":["weir"]}`), nostr.Limits{})
	fmt.Println(err)
	// Output:
	// false 500 <nil>
	// unsupported: "#topic": only tags of a single letter are indexed
}

func ExampleLimits() {
	limits := nostr.Limits{Tags: 1}
	_, err := nostr.ParseEvent([]byte(`{"tags":[["t","a"],["t","b"]]}`), limits)
	fmt.Println(err)
	fmt.Println(limits.CheckTime(&nostr.Event{CreatedAt: 2_000_000_000}, time.Unix(1_700_000_000, 0)))
	// Output:
	// invalid: "tags": more than 1 tags
	// invalid: created_at is more than 15m0s in the future
}

func ExampleAppendOK() {
	reason := nostr.Reason(nostr.RateLimited, "come back in %v", 2*time.Second)
	fmt.Printf("%s\n", nostr.AppendOK(nil, nostr.ID{}, false, reason))
	// Output: ["OK","0000000000000000000000000000000000000000000000000000000000000000",false,"rate-limited: come back in 2s"]
}
