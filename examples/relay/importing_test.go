package main

import (
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
	"github.com/weir-go/weir/internal/must"
)

var (
	lasts  = flag.Duration("lasts", 500*time.Millisecond, "how long TestFloods measures at a time")
	events = flag.Int("events", 0, "how many events TestImports imports; 0 skips it")
	stored = flag.Int("stored", 500, "how many events the store has at its start")
)

// TestImports measures imports under a target of 512 MiB, with and without verification:
//
//	scripts/all go test ./examples/relay -run Imports$ -v -timeout 1h -events 500000
func TestImports(t *testing.T) {
	if *events == 0 {
		t.Skip("takes minutes: -events 500000 runs it")
	}
	file := filepath.Join(t.TempDir(), "events.jsonl")
	must.Do(t, os.WriteFile(file, []byte(relayed(t, "gen", strconv.Itoa(*events))), 0o600))
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
	text := must.Have(os.ReadFile(file))(t)
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
