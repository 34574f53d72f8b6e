package store_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/nbd-wtf/go-nostr"

	"github.com/weir-go/weir/examples/relay/store"
)

func Example() {
	dir, err := os.MkdirTemp("", "store")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	s, err := store.Open(store.Options{Dir: dir, Memory: 256 << 20})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()

	author, signature := strings.Repeat("0a", 32), strings.Repeat("00", 64)
	profile := nostr.Event{ID: strings.Repeat("01", 32), PubKey: author, CreatedAt: 100, Kind: 0, Content: "old", Sig: signature}
	newer := nostr.Event{ID: strings.Repeat("02", 32), PubKey: author, CreatedAt: 200, Kind: 0, Content: "new", Sig: signature}
	for _, e := range []nostr.Event{profile, newer, profile} {
		outcome, err := s.Save(context.Background(), &e)
		fmt.Println(e.Content, outcome, err)
	}

	cursor := s.Query(nostr.Filter{Kinds: []int{0}, Limit: 10})
	for more := true; more; {
		more, err = cursor.Next(100, func(event []byte) bool {
			var e nostr.Event
			err := json.Unmarshal(event, &e)
			fmt.Println("found", e.Content, err)
			return true
		})
		if err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// old saved <nil>
	// new saved <nil>
	// old superseded <nil>
	// found new <nil>
}
