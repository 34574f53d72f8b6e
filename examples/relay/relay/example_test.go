package relay_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/weir-go/weir/examples/relay/relay"
	"github.com/weir-go/weir/examples/relay/store"
)

// A relay in front of Badger, inside 512 MiB.
func ExampleNew() {
	dir, _ := os.MkdirTemp("", "relay")
	defer os.RemoveAll(dir)
	events, err := store.Open(store.Options{Dir: dir, Memory: 512 << 20})
	if err != nil {
		panic(err)
	}
	defer events.Close()

	c, err := relay.Badger(relay.Config{Memory: 512 << 20}, events)
	if err != nil {
		panic(err)
	}
	s, err := relay.New(c)
	if err != nil {
		panic(err)
	}
	public := httptest.NewServer(s.Handler()) // and a second server for s.Internal()
	defer public.Close()

	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- s.Run(ctx) }()

	r, err := http.Get(public.URL) // it serves WebSockets
	fmt.Println(r.Status, err)
	stop()
	fmt.Println(<-ended)
	// Output:
	// 426 Upgrade Required <nil>
	// <nil>
}
