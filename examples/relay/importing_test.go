package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nbd-wtf/go-nostr"

	"github.com/weir-go/weir/examples/internal/importtest"
	"github.com/weir-go/weir/examples/relay/gen"
)

var (
	lasts  = flag.Duration("lasts", 500*time.Millisecond, "how long TestWhileImporting and TestFloods measure at a time")
	events = flag.Int("events", 0, "how many events TestImports imports; 0 skips it")
	stored = flag.Int("stored", 500, "how many events the store has at their start")
)

// imported is the number of events to import for each second: more than a relay can.
const imported = 10_000

// TestWhileImporting measures the latency for clients of a relay that imports as fast as it
// can, with and without its throttle:
//
//	scripts/all go test ./examples/relay -run WhileImporting -v -lasts 30s -stored 100000
func TestWhileImporting(t *testing.T) {
	before, file := generate(t, *stored, 1, unsigned), generate(t, int(imported*lasts.Seconds()), 2, unsigned)
	for _, throttled := range []bool{false, true} {
		if !throttled && *lasts < 10*time.Second {
			continue // for comparison
		}
		dir := filepath.Join(t.TempDir(), "store")
		relayed(t, "import", "-store", dir, "-trusted", before)
		r := serve(t, dir, fmt.Sprintf("-throttle=%v", throttled))
		idle := r.visit(t, before, *lasts)
		importing, stop := context.WithCancel(t.Context())
		ended := make(chan string, 1)
		go func() { ended <- r.importFile(importing, file) }()
		busy := r.visit(t, before, *lasts)
		stop()
		t.Logf("throttle %v, idle:      REQ %v", throttled, idle.asked)
		t.Logf("throttle %v, idle:    EVENT %v", throttled, idle.published)
		t.Logf("throttle %v, importing: REQ %v", throttled, busy.asked)
		t.Logf("throttle %v, importing: EVENT %v", throttled, busy.published)
		t.Logf("throttle %v, import: %s", throttled, <-ended)
		if failed := busy.asked.failed + busy.published.failed + idle.asked.failed + idle.published.failed; failed > 0 {
			t.Errorf("%d operations failed", failed)
		}
		if *lasts < 10*time.Second || !throttled {
			continue
		}
		if have, want := busy.asked.quantile(0.99), max(2*idle.asked.quantile(0.99), 50*time.Millisecond); have > want {
			t.Errorf("p99 of REQ is %v while importing, want at most %v", have, want)
		}
		if have := busy.published.quantile(0.99); have > 250*time.Millisecond {
			t.Errorf("p99 of EVENT is %v while importing, want at most 250ms", have)
		}
	}
}

// TestImports measures imports under a target of 512 MiB, with and without verification:
//
//	scripts/all go test ./examples/relay -run Imports$ -v -timeout 1h -events 500000
func TestImports(t *testing.T) {
	if *events == 0 {
		t.Skip("takes minutes: -events 500000 runs it")
	}
	file := filepath.Join(t.TempDir(), "events.jsonl")
	if err := os.WriteFile(file, []byte(relayed(t, "gen", strconv.Itoa(*events))), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"-trusted", "-throttle=false"}, {"-trusted"}, {}} {
		p := process(t, append(append([]string{"import", "-memory", "512", "-store", filepath.Join(t.TempDir(), "store")}, args...), file)...)
		began := time.Now()
		most, err := importtest.Run(t, p, 512)
		t.Logf("%-26v %6.0f events/s, %4.0f MiB of anonymous memory, %4.0f resident", args, float64(*events)/time.Since(began).Seconds(), most.Anonymous, most.Resident)
		if err != nil {
			t.Errorf("%v: %v", args, err)
		}
		if most.Anonymous > 512 {
			t.Errorf("%v: %.0f MiB of anonymous memory, want at most 512", args, most.Anonymous)
		}
	}
}

// importFile sends a file to the internal listener and returns the last line of the answer.
func (r running) importFile(ctx context.Context, name string) string {
	var out strings.Builder
	err := run(ctx, []string{"import", "-to", "http://" + r.internal, "-trusted", name}, streams{out: &out, err: &out})
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if err != nil && ctx.Err() == nil {
		return err.Error()
	}
	return lines[len(lines)-1]
}

// A visit holds the latencies of clients.
type visit struct{ asked, published *latencies }

// visit runs clients for a while: 8 that ask every 50 ms, and 4 that publish every 100 ms.
func (r running) visit(t *testing.T, file string, lasts time.Duration) (v visit) {
	t.Helper()
	filters, live := someFilters(t, file), liveEvents(1000)
	ctx, cancel := context.WithTimeout(t.Context(), lasts)
	defer cancel()
	asking := make(chan *latencies)
	go func() {
		asking <- crowd{r.public, 8, 50 * time.Millisecond, func(ctx context.Context, c *client, n int) error {
			return c.ask(ctx, filters[n%len(filters)])
		}}.run(ctx)
	}()
	v.published = crowd{r.public, 4, 100 * time.Millisecond, func(ctx context.Context, c *client, n int) error {
		return c.publish(ctx, live[n%len(live)])
	}}.run(ctx)
	v.asked = <-asking
	return v
}

// liveEvents returns events that are not in any file.
func liveEvents(n int) (events []*nostr.Event) {
	g := gen.New(rand.Uint64(), 100)
	for range n {
		e := g.Next()
		events = append(events, &e)
	}
	return events
}

// someFilters returns filters as clients send them: a timeline, a thread, an author, an
// event.
func someFilters(t *testing.T, file string) (filters []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		e := parse(t, []byte(strings.TrimSpace(line)))
		filters = append(filters,
			fmt.Sprintf(`{"authors":["%v"],"limit":20}`, e.PubKey),
			fmt.Sprintf(`{"authors":["%v"],"kinds":[0]}`, e.PubKey),
			fmt.Sprintf(`{"#e":["%v"],"limit":50}`, e.ID),
			fmt.Sprintf(`{"ids":["%v"]}`, e.ID),
			fmt.Sprintf(`{"kinds":[1],"until":%d,"limit":20}`, e.CreatedAt))
		if len(filters) >= 1000 {
			break
		}
	}
	rand.Shuffle(len(filters), func(i, j int) { filters[i], filters[j] = filters[j], filters[i] })
	return filters
}
