package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"testing"
	"time"

	"github.com/nbd-wtf/go-nostr"

	"github.com/weir-go/weir/examples/relay/protocol"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/together"
)

var (
	lasts    = flag.Duration("lasts", 500*time.Millisecond, "how long TestFloods measures at a time")
	stored   = flag.Int("stored", 500, "how many events the store has at its start")
	visitors = flag.Int("visitors", 100, "how many connections TestFloods has beside the floods")
	silent   = flag.Int("silent", 200, "how many connections TestConnectionsThatNeverRead has")
)

// TestFloods measures the latency of connections while others send as fast as the relay
// reads:
//
//	scripts/all go test ./examples/relay -run Floods -v -lasts 30s -stored 100000 -visitors 2000
func TestFloods(t *testing.T) {
	dir, events := fill(t, *stored)
	filters := someFilters(events)
	r := serve(t, dir, "-connections-per-address", "10000", "-connection-rate", "100000")
	quiet := r.visitors(t, filters, *lasts)

	floods := floods(t, r.public)
	flooded := r.visitors(t, filters, *lasts)
	_ = floods.Process.Kill()
	_ = floods.Wait() // killed
	t.Logf("quiet:   %v", quiet)
	t.Logf("flooded: %v", flooded)
	if quiet.failed+flooded.failed > 0 {
		t.Errorf("%d operations failed", quiet.failed+flooded.failed)
	}
	if *lasts < 10*time.Second {
		return
	}
	if have, want := flooded.quantile(0.99), max(quiet.quantile(0.99)*3/2, 20*time.Millisecond); have > want {
		t.Errorf("p99 is %v beside the floods, want at most %v", have, want)
	}
}

// visitors opens many connections that each ask once in ten seconds, unless an answer takes longer.
// Their starts are spread over an interval.
func (r running) visitors(t *testing.T, filters []string, lasts time.Duration) *latencies {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), lasts)
	defer cancel()
	every := min(10*time.Second, lasts/2)
	var measured latencies
	together.Do(*visitors, func(i int) {
		pause(ctx, every*time.Duration(i)/time.Duration(*visitors))
		c, err := dial(ctx, r.public)
		if err != nil {
			measured.add(ctx, time.Now(), err)
			return
		}
		defer c.close()
		for n := i; ctx.Err() == nil; n += *visitors {
			began := time.Now()
			measured.add(ctx, began, c.ask(ctx, filters[n%len(filters)]))
			pause(ctx, every-time.Since(began))
		}
	})
	return &measured
}

// pause waits, at most until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// someFilters returns filters as clients send them: a timeline, a thread, an author, an
// event.
func someFilters(events []nostr.Event) (filters []string) {
	for _, e := range events[:min(len(events), 200)] {
		filters = append(filters,
			fmt.Sprintf(`{"authors":["%v"],"limit":20}`, e.PubKey),
			fmt.Sprintf(`{"authors":["%v"],"kinds":[0]}`, e.PubKey),
			fmt.Sprintf(`{"#e":["%v"],"limit":50}`, e.ID),
			fmt.Sprintf(`{"ids":["%v"]}`, e.ID),
			fmt.Sprintf(`{"kinds":[1],"until":%d,"limit":20}`, e.CreatedAt))
	}
	rand.Shuffle(len(filters), func(i, j int) { filters[i], filters[j] = filters[j], filters[i] })
	return filters
}

// floods starts ten flooding connections. They run in a process of its own at low priority,
// because real floods come from other machines.
func floods(t *testing.T, address string) *exec.Cmd {
	t.Helper()
	p := process(t)
	p.Args = append([]string{"nice", "-n", "19", p.Path}, flooding, address)
	p.Path = "/usr/bin/nice"
	must.Do(t, p.Start())
	t.Cleanup(func() { _ = p.Process.Kill() })
	return p
}

// flood sends until it is killed and never waits for an answer: events with wrong
// signatures, filters that match everything, and counts of everything.
func flood(address string) {
	ctx := context.Background()
	together.Do(10, func(i int) {
		for {
			if c, err := dial(ctx, address); err == nil {
				c.flood(ctx, i)
				c.close()
			}
		}
	})
}

func (c *client) flood(ctx context.Context, number int) {
	g := newGenerator(100)
	var events []nostr.Event
	for range 100 {
		events = append(events, g.unsigned())
	}
	go func() { _ = c.await(ctx, "never", "never") }() // it keeps reading, or it would only flood itself
	var err error
	for n := number; err == nil; n++ {
		switch n % 3 {
		case 0:
			err = c.send(ctx, eventMessage(&events[n%len(events)]))
		case 1:
			err = c.send(ctx, fmt.Appendf(nil, `["REQ","%d",{}]`, n%20))
		default:
			err = c.send(ctx, []byte(`["COUNT","all",{}]`))
		}
	}
}

// TestConnectionsThatNeverRead opens many connections that ask for everything and never
// read. The relay stays below its target.
func TestConnectionsThatNeverRead(t *testing.T) {
	dir, _ := fill(t, *stored)
	r := serve(t, dir, "-memory", "256", "-connections-per-address", "10000", "-connection-rate", "100000")
	for range *silent {
		c := must.Have(dial(t.Context(), r.public))(t)
		defer c.close()
		for s := range 10 {
			must.Do(t, c.send(t.Context(), fmt.Appendf(nil, `["REQ","%d",{"limit":%d}]`, s, protocol.MaxLimit)))
		}
	}
	<-time.After(*lasts) // their queries fill their buffers
	seen := r.stop(t)
	t.Logf("%.0f MiB of anonymous memory, %.0f resident", seen.Anonymous, seen.Resident)
	if *lasts < 10*time.Second {
		return // and the race detector takes memory too
	}
	if seen.Anonymous > 256 {
		t.Errorf("%.0f MiB of anonymous memory, want at most 256", seen.Anonymous)
	}
}
