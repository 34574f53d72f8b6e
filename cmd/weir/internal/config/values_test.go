package config_test

import (
	"net/netip"
	"reflect"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/trust"
)

func TestDuration(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0s", "500ms": "500ms", "30s": "30s", "120s": "2m", "90s": "1m30s", "60m": "1h", "1h0m1s": "1h0m1s", "3600.5s": "1h0m0.5s", "10m": "10m", "10s": "10s", "90m": "1h30m", "10h": "10h",
	} {
		var d config.Duration
		if err := d.UnmarshalText([]byte(text)); err != nil || d.String() != want {
			t.Errorf("%s: %v, %v", text, d, err)
		}
		if again, err := time.ParseDuration(d.String()); err != nil || again != time.Duration(d) {
			t.Errorf("%s: read again as %v, %v", text, again, err)
		}
	}
	for _, text := range []string{"", "5", "x", "1 s", "1d"} {
		if err := new(config.Duration).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

func TestBytes(t *testing.T) {
	for text, want := range map[string]config.Bytes{"0": 0, "65536": 65536, "64KiB": 64 << 10, "10MiB": 10 << 20, "3GiB": 3 << 30, "0KiB": 0, "007": 7} {
		var b config.Bytes
		if err := b.UnmarshalText([]byte(text)); err != nil || b != want {
			t.Errorf("%s: %d, %v", text, b, err)
		}
		var again config.Bytes
		if err := again.UnmarshalText([]byte(b.String())); err != nil || again != b {
			t.Errorf("%s: %s is read as %d, %v", text, b, again, err)
		}
	}
	for _, text := range []string{"", "-1", "+1", "1K", "1kib", "1 KiB", "1.5MiB", "KiB", "9223372036854775808", "8589934592GiB"} {
		if err := new(config.Bytes).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
	if got := config.Bytes(64<<10).String() + " " + config.Bytes(65537).String(); got != "64KiB 65537" {
		t.Error(got)
	}
}

// TestDefaults: the smallest file has the defaults that the documentation of the package
// promises.
func TestDefaults(t *testing.T) {
	read := parsed(t, small)
	if l := read.Listeners[0]; l.Address != ":8080" || !reflect.DeepEqual(l.Protocols, []string{"http1", "http2"}) || l.MaxHeader != 64<<10 {
		t.Errorf("%+v", l)
	}
	if r := read.Routes[0]; r.Path != "/" || r.Upstream != "api" || r.Compartment != "api" || r.Timeout != config.Duration(time.Minute) || r.Priority != "normal" {
		t.Errorf("%+v", r)
	}
	if read.Admin.Address != "127.0.0.1:8081" || !read.Log.Decisions || read.Trace.Sample != 0.01 {
		t.Errorf("%+v", read)
	}

	for most, want := range map[string]int{"1": 1, "1000": 500} {
		if r := parsed(t, small+"routes: [{}, {path: /a}]\nstreams: {max: "+most+"}\n").Routes[1]; r.Streams != want {
			t.Errorf("%d streams of %s, want %d", r.Streams, most, want)
		}
	}
}

func TestBulkhead(t *testing.T) {
	c := parsed(t, `
upstreams: {api: {addresses: ['http://a']}, web: {addresses: ['http://b']}}
routes: [{upstream: api, compartment: slow}, {path: /web/, upstream: web}, {path: /live, upstream: web, exempt: true}, {path: /now, upstream: api}]
max: 100
compartments:
  slow:
    law: band(target=100ms)
    min: 2
    max: 50
    initial: 5
    interval: 2s
    window: 20s
    min_samples: 30
    queue: {size: 9, timeout: 300ms, order: fifo, tenants: 64}
    reserved: 3
    share: 0.5
    budget: 300ms
    breaker: {failures: 3}
    shadow: true
  api: {queue: {size: 0}}
`)
	limits := c.Bulkhead()
	slow := limits.ByKey["slow"]
	breaker := slow.Breaker
	slow.Breaker = nil
	want := weir.Config{
		Min: 2, Max: 50, Initial: 5, Law: law.Band{Target: 100 * time.Millisecond}, Interval: 2 * time.Second, Window: 20 * time.Second, MinSamples: 30,
		Queue:      weir.Queue{Size: 9, Timeout: 300 * time.Millisecond, Discipline: weir.FIFO, Tenants: 64},
		Histograms: true, Shadow: true,
	}
	if !reflect.DeepEqual(slow.Config, want) || slow.Reserved != 3 || slow.Share != 0.5 || slow.Budget != 300*time.Millisecond {
		t.Errorf("\n got %+v\nwant %+v", slow, want)
	}
	if web := limits.ByKey["web"]; web.Config.Law != (law.Setpoint{}) || !web.Config.Histograms || web.Share != 1 || web.Breaker != nil ||
		web.Config.Queue != (weir.Queue{Size: 1000, Discipline: weir.Adaptive}) {
		t.Errorf("%+v", web)
	}
	if now := limits.ByKey["api"]; now.Config.Queue != (weir.Queue{}) {
		t.Errorf("%+v, want no queue", now.Config.Queue)
	}
	if len(limits.ByKey) != 3 || limits.Max != 100 {
		t.Errorf("%+v", limits)
	}

	b := breaker("slow")
	for failures := range 4 {
		done, err := b.Allow(t.Context())
		if open := failures == 3; open != (err != nil) {
			t.Errorf("after %d failures: %v", failures, err)
		}
		if err == nil {
			done(weir.Failure)
		}
	}
}

func TestPeers(t *testing.T) {
	peers := config.Peers(parsed(t, small+"listeners: [{trusted: [10.0.0.0/8, '::1']}]\n").Listeners[0].Trusted)
	for addr, want := range map[string]bool{"10.1.2.3": true, "::1": true, "192.0.2.1": false} {
		if got := peers(trust.Peer{Addr: netip.MustParseAddr(addr)}); got != want {
			t.Errorf("%s is trusted: %v, want %v", addr, got, want)
		}
	}
}
