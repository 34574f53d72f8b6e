package natsfleet_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/fleet"
	"github.com/weir-go/weir/fleet/natsfleet"
	"github.com/weir-go/weir/fleet/storetest"
	"github.com/weir-go/weir/internal/longtest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/pool/natspool"
)

// serve starts a NATS server in this process; stop ends it. At port -1 it takes a free one.
func serve(t *testing.T, dir string, port int) (url string, at int, stop func()) {
	t.Helper()
	s := must.Have(server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: port, JetStream: true, StoreDir: dir, NoSigs: true, NoLog: true,
		Authorization: "secret",
	}))(t)
	s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the server does not start")
	}
	stop = func() { s.Shutdown(); s.WaitForShutdown() }
	t.Cleanup(stop)
	return s.ClientURL(), s.Addr().(*net.TCPAddr).Port, stop
}

func connect(t *testing.T, url string) jetstream.JetStream {
	t.Helper()
	conn := must.Have(nats.Connect(url, nats.Token("secret"), nats.MaxReconnects(-1), nats.ReconnectWait(20*time.Millisecond)))(t)
	t.Cleanup(conn.Close)
	return must.Have(jetstream.New(conn))(t)
}

func TestStore(t *testing.T) {
	url, _, _ := serve(t, t.TempDir(), -1)
	var n atomic.Int32
	storetest.Test(t, func(t *testing.T) fleet.Store {
		return must.Have(natsfleet.New(t.Context(), connect(t, url), natsfleet.Config{Fleet: fmt.Sprintf("test-%d", n.Add(1))}))(t)
	})
}

func TestConfig(t *testing.T) {
	url, _, _ := serve(t, t.TempDir(), -1)
	js := connect(t, url)
	for want, c := range map[string]natsfleet.Config{
		`Fleet is ""`:    {},
		`Fleet is "a.b"`: {Fleet: "a.b"},
		"Replicas is 7":  {Fleet: "a", Replicas: 7},
	} {
		if _, err := natsfleet.New(t.Context(), js, c); !errors.Is(err, weir.ErrConfig) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	wide := natsfleet.Config{Fleet: "wide", Replicas: 3} // of one server
	if _, err := natsfleet.New(t.Context(), js, wide); err == nil || !strings.Contains(err.Error(), "cannot open the bucket weir_fleet_wide") {
		t.Errorf("%v", err)
	}
}

// A bucket that its operator has made stays as it is.
func TestBucketStaysAsItIs(t *testing.T) {
	url, _, _ := serve(t, t.TempDir(), -1)
	js := connect(t, url)
	made := jetstream.KeyValueConfig{Bucket: "weir_fleet_search", Storage: jetstream.MemoryStorage, History: 5}
	bucket := must.Have(js.CreateKeyValue(t.Context(), made))(t)
	for range 2 {
		store := must.Have(natsfleet.New(t.Context(), js, natsfleet.Config{Fleet: "search", Replicas: 3}))(t)
		must.Do(t, fleet.SaveState(t.Context(), store, "search", []byte("{}")))
		must.Do(t, store.Write(t.Context(), fleet.Write{Key: "lease.want.a"})) // such a bucket takes no end of its mark
	}
	if is := must.Have(bucket.Status(t.Context()))(t).Config(); is.Storage != made.Storage || is.History != made.History || is.Replicas != 1 {
		t.Errorf("it is %+v now", is)
	}
}

// The marks of processes that have left do not stay: a fleet may have thousands in a month.
func TestMarksEnd(t *testing.T) {
	url, _, _ := serve(t, t.TempDir(), -1)
	js := connect(t, url)
	store := must.Have(natsfleet.New(t.Context(), js, natsfleet.Config{Fleet: "search"}))(t)
	for _, swap := range []bool{false, true} {
		must.Do(t, store.Write(t.Context(), fleet.Write{Key: "lease.want.a", Value: []byte("{}")}))
		stream := must.Have(js.Stream(t.Context(), "KV_weir_fleet_search"))(t)
		made := must.Have(stream.GetLastMsgForSubject(t.Context(), "$KV.weir_fleet_search.lease.want.a"))(t)
		must.Do(t, store.Write(t.Context(), fleet.Write{Key: "lease.want.a", Swap: swap, Rev: made.Sequence}))
		mark := must.Have(stream.GetLastMsgForSubject(t.Context(), "$KV.weir_fleet_search.lease.want.a"))(t)
		if ttl := mark.Header.Get(jetstream.MsgTTLHeader); ttl != "10m0s" {
			t.Errorf("swap %v: the mark stays for %q, want 10m0s", swap, ttl)
		}
	}
}

// Processes of one machine meet in a server that one of them runs in a folder.
func TestServerInAFolder(t *testing.T) {
	dir := t.TempDir()
	stores := make([]fleet.Store, 2)
	for i := range stores {
		local, err := natspool.Open(t.Context(), dir)
		if errors.Is(err, errors.ErrUnsupported) {
			t.Skip(err)
		}
		must.Do(t, err)
		t.Cleanup(func() { _ = local.Close() })
		stores[i] = must.Have(natsfleet.New(t.Context(), local.JetStream(), natsfleet.Config{Fleet: "search"}))(t)
	}
	must.Do(t, fleet.SaveState(t.Context(), stores[0], "search", []byte("{}")))
	if state, err := fleet.LoadState(t.Context(), stores[1], "search"); err != nil || string(state) != "{}" {
		t.Errorf("another process sees %q, %v", state, err)
	}
}

// A member keeps its lease through a restart of the server, or gets another one after it; without
// the server it falls back.
func TestServerRestarts(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "nats")
	url, port, stop := serve(t, dir, -1)
	store := must.Have(natsfleet.New(t.Context(), connect(t, url), natsfleet.Config{Fleet: "search"}))(t)
	lim := weir.Must(weir.New(weir.Config{Law: law.Fixed{Limit: 100}}))
	m := must.Have(fleet.Join(fleet.Config{
		Store: store, Actuator: fleet.Limiter(lim), Cap: 10, Fallback: fleet.Refuse,
		Refresh: 100 * time.Millisecond, TTL: time.Second, Grace: 100 * time.Millisecond,
	}))(t)
	defer func() { _ = m.Leave(context.Background()) }()
	await(t, "a lease", m, func(s fleet.Snapshot) bool { return s.Leased && s.Share == 10 })
	stop()
	await(t, "its end", m, func(s fleet.Snapshot) bool { return !s.Leased && s.Share == 0 && s.Err != "" })
	serve(t, dir, port)
	await(t, "a lease after the restart", m, func(s fleet.Snapshot) bool { return s.Leased && s.Share == 10 && s.Err == "" })
}

// A member says that its bucket was deleted, and continues in one that is made in its place.
func TestBucketIsMadeAgain(t *testing.T) {
	longtest.Skip(t)
	url, _, _ := serve(t, t.TempDir(), -1)
	js := connect(t, url)
	config := natsfleet.Config{Fleet: "search"}
	m := must.Have(fleet.Join(fleet.Config{
		Store: must.Have(natsfleet.New(t.Context(), js, config))(t), Actuator: fleet.Limiter(weir.Must(weir.New(weir.Config{}))),
		Cap: 10, Refresh: 100 * time.Millisecond, TTL: time.Second, Grace: 100 * time.Millisecond,
	}))(t)
	defer func() { _ = m.Leave(context.Background()) }()
	await(t, "a lease", m, func(s fleet.Snapshot) bool { return s.Leased })
	must.Do(t, js.DeleteKeyValue(t.Context(), "weir_fleet_search"))
	await(t, "its end", m, func(s fleet.Snapshot) bool { return !s.Leased && s.Err != "" })
	must.Have(natsfleet.New(t.Context(), js, config))(t) // as weir-fleet does
	await(t, "a lease in the new one", m, func(s fleet.Snapshot) bool { return s.Leased && s.Err == "" })
}

func await(t *testing.T, text string, m *fleet.Member, is func(fleet.Snapshot) bool) {
	t.Helper()
	must.Happen(t, text, func() bool { return is(m.Snapshot()) })
}
