package natspool_test

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weir-go/weir/internal/longtest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/tcptest"
	"github.com/weir-go/weir/pool"
	"github.com/weir-go/weir/pool/natspool"
)

// cluster starts three servers that know each other.
func cluster(t *testing.T) (nodes map[string]*server.Server, urls string) {
	t.Helper()
	var routes []*url.URL
	for range 3 {
		routes = append(routes, &url.URL{Scheme: "nats", Host: tcptest.FreeAddress(t)})
	}
	nodes = map[string]*server.Server{}
	dir := t.TempDir()
	for i, route := range routes {
		name := fmt.Sprint("node-", i)
		var port int
		must.Have(fmt.Sscan(route.Port(), &port))(t)
		s := must.Have(server.NewServer(&server.Options{
			ServerName: name, Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true,
			StoreDir: filepath.Join(dir, name), NoSigs: true, NoLog: true,
			Cluster: server.ClusterOpts{Name: "test", Host: "127.0.0.1", Port: port}, Routes: routes,
		}))(t)
		s.Start()
		t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
		nodes[name] = s
	}
	for _, s := range nodes {
		if !s.ReadyForConnections(20 * time.Second) {
			t.Fatal("a node does not start")
		}
		urls += "," + s.ClientURL()
	}
	return nodes, urls[1:]
}

// TestNodeStops: of three nodes the one that leads stops while the pool runs. Every job succeeds,
// and one that was acknowledged runs no more.
func TestNodeStops(t *testing.T) {
	longtest.Skip(t)
	nodes, urls := cluster(t)
	conn := must.Have(nats.Connect(urls, nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond)))(t)
	t.Cleanup(conn.Close)
	js := must.Have(jetstream.New(conn))(t)
	q := eventually(t, func() (*natspool.Queue, error) { // once the nodes have elected a leader
		return natspool.New(t.Context(), js, natspool.Config{Stream: "mail", Replicas: 3, Lease: 2 * time.Second})
	})
	const n = 400
	for i := range n {
		add(t, q, fmt.Sprint(i))
	}
	ran := map[string]bool{}
	var acknowledged sync.Map
	source := q.Source(func(j natspool.Job) pool.Task {
		return pool.Task{Key: j.ID, Run: func(context.Context) (any, error) {
			if _, was := acknowledged.Load(j.ID); was {
				t.Errorf("job %s was acknowledged, and runs again", j.ID)
			}
			return nil, nil
		}}
	})
	acks := 0
	each(t, newPool(t, q, 16, pool.Config{Source: source}), func(ev pool.Event) bool {
		if ev.Kind == pool.Done {
			ran[ev.Key] = true
		}
		if ev.Kind == pool.Done && ev.Err == nil {
			if _, was := acknowledged.LoadOrStore(ev.Key, true); !was {
				acks++
			}
		}
		if len(ran) == n/4 && len(nodes) == 3 {
			stopLeader(t, js, nodes)
		}
		return len(ran) < n
	})
	left := eventually(t, func() (natspool.Snapshot, error) { return q.Snapshot(t.Context()) })
	if most := int64(n - acks); left.Waiting != 0 || left.Held > most || left.Dead != 0 {
		t.Errorf("left behind: %+v, with %d that were not acknowledged", left, most)
	}
}

// stopLeader stops the node that leads the stream.
func stopLeader(t *testing.T, js jetstream.JetStream, nodes map[string]*server.Server) {
	t.Helper()
	stream := eventually(t, func() (jetstream.Stream, error) { return js.Stream(t.Context(), "mail") })
	leader := stream.CachedInfo().Cluster.Leader
	nodes[leader].Shutdown()
	delete(nodes, leader)
}

// eventually calls a function until it succeeds.
func eventually[T any](t *testing.T, f func() (T, error)) T {
	t.Helper()
	end := time.Now().Add(30 * time.Second)
	for range time.Tick(10 * time.Millisecond) {
		v, err := f()
		if err == nil {
			return v
		}
		if time.Now().After(end) {
			t.Fatalf("not within 30 s: %v", err)
		}
	}
	panic("a ticker does not end")
}
