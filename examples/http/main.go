// Http is an HTTP service whose database runs 4 queries at once, of 40 ms each: 100 requests a
// second. Clients make 150 requests a second and wait for half a second.
//
//	go run ./examples/http
//
// Without a limit the service answers 100 requests in the first second, some in the second, and
// then none in time: requests wait for the database until their clients have left, and the database
// works for clients that have left. With a limit it refuses the excess requests at once, and
// answers 90 to 100 a second in time. The limiter has no setting for the capacity of the database.
package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/examples/internal/crowd"
	"github.com/weir-go/weir/weirhttp"
)

func main() { crowd.Main(run) }

// service answers each request after a query.
func service() http.Handler {
	connections := make(chan struct{}, 4)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /orders", func(w http.ResponseWriter, _ *http.Request) {
		connections <- struct{}{} // ignores whether the client has left, as many drivers do
		defer func() { <-connections }()
		time.Sleep(40 * time.Millisecond)
		fmt.Fprintln(w, "no orders yet")
	})
	return mux
}

func run(ctx context.Context, show crowd.Show) error {
	fmt.Fprintln(show.Out, "The database of this service can do 100 requests a second. Clients send 150, and give up after half a second.")

	fmt.Fprintln(show.Out, "\nWithout a limit, requests wait for the database until their clients have left:")
	without, err := serve(ctx, show, service(), nil)
	if err != nil {
		return err
	}

	lim, err := weir.New(weir.Config{Name: "orders"})
	if err != nil {
		return err
	}
	fmt.Fprintln(show.Out, "\nWith weirhttp.Limit, which finds how many requests may run at once and refuses the others:")
	with, err := serve(ctx, show, weirhttp.Limit(service(), weirhttp.One(lim)), lim)
	if err != nil {
		return err
	}
	fmt.Fprintf(show.Out, "\nIn the second half, %d of %d requests were answered in time without a limit, and %d of %d with it.\n",
		without.InTime, without.Asked, with.InTime, with.Asked)
	return nil
}

func serve(ctx context.Context, show crowd.Show, h http.Handler, lim *weir.Limiter) (crowd.Tally, error) {
	listener, dial, err := show.Listen()
	if err != nil {
		return crowd.Tally{}, err
	}
	srv := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	defer srv.Close()
	go func() { _ = srv.Serve(listener) }() // until it is closed

	client := &http.Client{Transport: &http.Transport{DialContext: dial, MaxIdleConnsPerHost: 100}}
	defer client.CloseIdleConnections()
	return crowd.Crowd{Rate: 150, Patience: 500 * time.Millisecond, Limiter: lim, Call: func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://orders/orders", nil)
		if err != nil {
			return err
		}
		res, err := client.Do(req)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		if res.StatusCode == http.StatusServiceUnavailable {
			return weir.ErrRefused
		}
		return nil
	}}.Run(ctx, show.Out, show.Each)
}
