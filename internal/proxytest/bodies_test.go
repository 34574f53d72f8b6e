package proxytest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/longtest"
)

// tenWorkers is the upstream of the trials with bodies.
var tenWorkers = upstream{10, 50 * time.Millisecond, 50 * time.Millisecond}

// bodies are the loads of the trials: requests with bodies, or slow senders beside requests
// without.
var bodies = []struct {
	name    string
	u       upstream
	times   float64 // as a multiple of the capacity
	posts   int     // out of ten requests
	size    int
	chunked bool
	slow    []slowKind
	clients int
	short   bool
}{
	{name: "60 kB", u: tenWorkers, times: 2, posts: 10, size: 60_000},
	{name: "100 kB", u: tenWorkers, times: 2, posts: 10, size: 100_000},
	{name: "100 kB in chunks", u: tenWorkers, times: 2, posts: 10, size: 100_000, chunked: true, short: true},
	{name: "1 MB", u: upstream{10, 500 * time.Millisecond, 500 * time.Millisecond}, times: 2, posts: 10, size: 1_000_000},
	{name: "half GETs, half 100 kB", u: tenWorkers, times: 2, posts: 5, size: 100_000},
	{name: "GETs beside 1,000 slow uploads", u: tenWorkers, times: 0.75, slow: []slowKind{slowLength}, clients: 1000},
	{name: "GETs beside 1,000 slow uploads in chunks", u: tenWorkers, times: 0.75, slow: []slowKind{slowChunks}, clients: 1000, short: true},
	{name: "GETs beside 20 slow uploads of 17 MiB", u: tenWorkers, times: 0.75, slow: []slowKind{slowLarge}, clients: 20},
}

// withBodies returns a function that sends the given number of POSTs out of ten requests.
func withBodies(t testing.TB, url string, posts, size int, chunked bool) func(int) *http.Request {
	get, body := gets(t, url), make([]byte, size)
	return func(n int) *http.Request {
		if n%10 >= posts {
			return get(n)
		}
		from := io.Reader(bytes.NewReader(body))
		if chunked {
			from = io.MultiReader(from)
		}
		post, err := http.NewRequest(http.MethodPost, url, from)
		if err != nil {
			t.Error(err)
			return get(n)
		}
		return post
	}
}

// TestBodies prints the share of its capacity that an upstream does in time when requests
// have bodies. A short trial checks that it is most of the capacity.
func TestBodies(t *testing.T) {
	trial(t)
	during, settled, repeats := either(17*time.Second, 5*time.Second), either(5*time.Second, 2*time.Second), either(5, 1)
	tb := newTable(t, fmt.Sprintf("requests answered within %v as a share of the capacity from second %v on, medians of %d", deadline, settled, repeats),
		"requests", "weir: GETs", "POSTs", "HAProxy: GETs", "POSTs")
	for _, c := range bodies {
		if !longtest.Full() && !c.short {
			continue
		}
		row := []any{c.name}
		for _, g := range either([]guard{byDefault, byHand(c.u, 1)}, []guard{byDefault}) {
			var ofGets, ofPosts []float64
			for seed := range repeats {
				g.before(t, c.u, func(t *testing.T, p, _ peer) {
					slow := gather(p, either(c.clients, min(c.clients, 100)), c.slow...)
					defer slow.disperse()
					requests := withBodies(t, p.url+"/work", c.posts, c.size, c.chunked)
					answers := c.u.times(c.times, during, uint64(seed), requests).run(t.Context())
					var get, post []answer
					for _, a := range answers {
						if a.n%10 < c.posts {
							post = append(post, a)
						} else {
							get = append(get, a)
						}
					}
					ofGets = append(ofGets, c.u.share(get, settled, during))
					ofPosts = append(ofPosts, c.u.share(post, settled, during))
				})
			}
			row = append(row, median(ofGets), median(ofPosts))
			if share := median(ofGets) + median(ofPosts); !longtest.Full() && share < 0.6*min(1, c.times) {
				t.Errorf("%s: %.2f of the capacity is done in time, want most of it", c.name, share)
			}
		}
		tb.row(row...)
	}
}
