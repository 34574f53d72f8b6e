package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/sim"
)

var update = flag.Bool("update", false, "write the sample logs, and the output of the commands in docs/traces.md and docs/results/traces.md")

// sampleLogs are the logs of docs/traces.md. They are synthetic: requests arrive
// independently, and nothing queued while they were recorded.
var sampleLogs = map[string]func(*sim.Rand) []byte{
	"access.log":   sampleAccessLog,
	"caddy.jsonl":  sampleJSONLog,
	"llm.csv":      sampleTokens,
	"requests.csv": sampleRequests,
}

func TestSampleLogs(t *testing.T) {
	for name, write := range sampleLogs {
		file := filepath.Join("testdata", "logs", name)
		text := write(new(sim.Rand))
		if *update {
			must.Do(t, os.WriteFile(file, text, 0o666))
		}
		if have, err := os.ReadFile(file); err != nil || !bytes.Equal(have, text) {
			t.Errorf("%s is not what is written here: run go test ./cmd/weir -run SampleLogs -update (%v)", file, err)
		}
	}
}

// midday is the start of the logs.
var midday = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// A visit is a request in a sample log.
type visit struct {
	path     string
	at, took time.Duration
}

// visits are n requests at the given rate, in the order in which they end. Half go to a page
// that takes 40 ms and half to a search that takes 160 ms.
func visits(r *sim.Rand, n int, perSecond float64) (list []visit) {
	at := time.Duration(0)
	for range n {
		at += time.Duration(r.Exp() / perSecond * float64(time.Second))
		v := visit{"/page/", at, sim.Lognormal{Mean: 40 * time.Millisecond, CV: 0.5}.Draw(r)}
		if r.Float64() < 0.5 {
			v.path, v.took = "/search", sim.Lognormal{Mean: 160 * time.Millisecond, CV: 1}.Draw(r)
		}
		list = append(list, v)
	}
	slices.SortFunc(list, func(a, b visit) int { return cmp.Compare(a.at+a.took, b.at+b.took) })
	return list
}

// sampleAccessLog is a log of nginx in the combined format with $request_time.
func sampleAccessLog(r *sim.Rand) []byte {
	var log bytes.Buffer
	for _, v := range visits(r, 2400, 20) {
		fmt.Fprintf(&log, "192.0.2.%d - - [%s] \"GET %s HTTP/1.1\" 200 %d \"-\" \"curl/8\" %.3f\n",
			1+r.N(250), midday.Add(v.at+v.took).Format("02/Jan/2006:15:04:05 -0700"), v.path, 500+r.N(9000), v.took.Seconds())
	}
	return log.Bytes()
}

// sampleJSONLog is a log of Caddy, with fewer fields than a real one.
func sampleJSONLog(r *sim.Rand) []byte {
	var log bytes.Buffer
	for _, v := range visits(r, 600, 20) {
		line, err := json.Marshal(map[string]any{
			"ts": float64(midday.Add(v.at+v.took).UnixMicro()) / 1e6, "duration": v.took.Seconds(), "status": 200,
			"request": map[string]any{"method": "GET", "uri": v.path},
		})
		if err != nil {
			panic(err)
		}
		log.Write(append(line, '\n'))
	}
	return log.Bytes()
}

// sampleTokens has the columns of the traces of Azure's language models: a request's arrival
// and its numbers of input and output tokens. The service time is computed from them.
func sampleTokens(r *sim.Rand) []byte {
	log := bytes.NewBufferString("TIMESTAMP,ContextTokens,GeneratedTokens,service\n")
	at := time.Duration(0)
	for range 1500 {
		at += time.Duration(r.Exp() / 2 * float64(time.Second))
		tokens := func(mean time.Duration, cv float64) int {
			return 1 + int(sim.Lognormal{Mean: mean * time.Microsecond, CV: cv}.Draw(r)/time.Microsecond)
		}
		in, out := tokens(1000, 1), tokens(140, 0.74)
		service := 0.02 + 0.00005*float64(in) + 0.03*float64(out)
		fmt.Fprintf(log, "%s0,%d,%d,%.5f\n", midday.Add(at).Format("2006-01-02 15:04:05.000000"), in, out, service)
	}
	return log.Bytes()
}

// sampleRequests is a table with a class and a deadline for each request.
func sampleRequests(r *sim.Rand) []byte {
	log := bytes.NewBufferString("received_ms;kind;service_us;deadline_ms\n")
	at := 0.0
	for range 1000 {
		at += r.Exp() * 25
		kind, wait := "interactive", 400
		if r.Float64() < 0.3 {
			kind, wait = "batch", 5000
		}
		received := midday.UnixMilli() + int64(at)
		fmt.Fprintf(log, "%d;%s;%d;%d\n", received, kind, sim.Exponential{Mean: 100 * time.Millisecond}.Draw(r).Microseconds(), received+int64(wait))
	}
	return log.Bytes()
}
