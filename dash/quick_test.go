package dash

import (
	"fmt"
	"io"
	"net/http/httptest"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/histogram"
	"github.com/weir-go/weir/internal/chromium"
	"github.com/weir-go/weir/internal/longtest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
)

// busy returns a dashboard of limiters with an hour of readings that change all the time.
func busy(t testing.TB, limiters int) *Handler {
	t.Helper()
	n := 0
	h := must.Have(New(Config{Public: true, Read: func() (snaps []weir.Snapshot) {
		n++
		latencies := histogram.Snapshot{Count: uint64(10 * n)}
		for i := range 10 {
			latencies.Buckets = append(latencies.Buckets, histogram.Bucket{Index: 4*i - 40, Count: uint64(n)})
		}
		for i := range limiters {
			snaps = append(snaps, weir.Snapshot{
				Name: fmt.Sprintf("limiter %02d", i), Limit: 20 + n/10%7, InFlight: 10 + n%13, Queued: n % 5, P95: time.Duration(80+n%40) * time.Millisecond,
				Raised: uint64(n / 10), Last: law.Reason{Code: law.Above, Signal: law.P95, Have: 0.131, Want: 0.115},
				Refused:   map[weir.Reason]uint64{weir.ReasonQueueFull: uint64(n), weir.ReasonDeadline: uint64(n / 2)},
				Latencies: &latencies,
			})
		}
		return snaps
	}}))(t)
	h.hub.mu.Lock()
	defer h.hub.mu.Unlock()
	now := time.Now()
	for i := range mostPoints {
		h.hub.keep(now.Add(time.Duration(i-mostPoints)*every), h.hub.attempt())
	}
	return h
}

// Each chart is drawn in a frame of its own, the one of the limit first.
func TestPageIsQuick(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	h := busy(t, 20)
	server := httptest.NewServer(h)
	defer server.Close()
	defer h.Close()
	tab := chromium.Start(t)
	tab.Look(t, 1280, 900, "light")
	tab.Prepare(t, `
		let order = [];
		addEventListener('DOMContentLoaded', () => {
			const usual = plot;
			plot = (c, ...rest) => {
				usual(c, ...rest);
				order.push([document.timeline.currentTime, [...charts, ...curved].indexOf(c)]);
			};
		});`)
	tab.Open(t, server.URL)
	tab.Wait(t, "order.length > 14 && readings[0].at(-1) - readings[0][0] > 3600 - 360")
	var limitFirst, alone bool
	if tab.Eval(t, "order[0][1] === 0", &limitFirst); !limitFirst {
		t.Error("another chart than that of the limit is drawn first")
	}
	tab.Eval(t, "(order = [], $('span').value = 3600, $('span').onchange())", nil)
	tab.Wait(t, "order.length > 14")
	if tab.Eval(t, "new Set(order.map(([frame]) => frame)).size === order.length", &alone); !alone {
		t.Error("two charts are drawn in one frame")
	}
}

// One reading of 20 limiters, sent to 200 pages, two of which come in a second. It includes the
// work of the clients.
func BenchmarkReadingFor200Pages(b *testing.B) {
	const pages = 200
	h := busy(b, 20)
	server := httptest.NewServer(h)
	defer server.Close()
	h.hub.running = true // by the benchmark
	var reading sync.WaitGroup
	for range pages {
		answer := must.Have(server.Client().Get(server.URL + "/events"))(b)
		reading.Go(func() {
			defer answer.Body.Close()
			_, _ = io.Copy(io.Discard, answer.Body)
		})
	}
	empty := func() {
		for done := false; !done; runtime.Gosched() {
			h.hub.mu.Lock()
			done = true
			for c := range h.hub.clients {
				done = done && len(c.messages) == 0
			}
			h.hub.mu.Unlock()
		}
	}
	empty()
	var memory runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&memory)
	for b.Loop() {
		h.hub.mu.Lock()
		h.hub.keep(time.Now(), h.hub.attempt())
		h.hub.send()
		h.hub.mu.Unlock()
		empty()
	}
	b.StopTimer()
	b.ReportMetric(float64(memory.HeapInuse+memory.StackInuse)/1e6, "MB")
	if n := len(h.hub.clients); n != pages {
		b.Errorf("%d pages are left", n)
	}
	h.Close()
	reading.Wait()
}
