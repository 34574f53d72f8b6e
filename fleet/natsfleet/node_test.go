package natsfleet_test

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/tcptest"
)

// A cluster has three servers of NATS, which only meet through gates.
type cluster struct {
	t       *testing.T
	options [3]*server.Options
	servers [3]*server.Server
	// gates[i][k] is on the way from server i to server k, clients[i] on the way from clients to
	// server i.
	gates   [3][3]*gate
	clients [3]*gate
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{t: t}
	for i := range c.options {
		c.options[i] = &server.Options{
			ServerName: fmt.Sprintf("n%d", i), Host: "127.0.0.1", Port: freePort(t), NoSigs: true, NoLog: true,
			JetStream: true, StoreDir: t.TempDir(), Authorization: "secret", Cluster: server.ClusterOpts{
				Name: "test", Host: "127.0.0.1", Port: freePort(t), Advertise: "127.0.0.1:1",
			},
		}
		c.clients[i] = newGate(t, c.options[i].Port)
	}
	for i := range c.options {
		for k := range c.options {
			if k != i {
				c.gates[i][k] = newGate(t, c.options[k].Cluster.Port)
				c.options[i].Routes = append(c.options[i].Routes, &url.URL{Scheme: "nats", Host: c.gates[i][k].address})
			}
		}
	}
	for i := range c.options {
		c.start(i)
	}
	return c
}

func freePort(t *testing.T) int {
	t.Helper()
	_, port, _ := net.SplitHostPort(tcptest.FreeAddress(t))
	return must.Have(strconv.Atoi(port))(t)
}

func (c *cluster) start(i int) {
	c.t.Helper()
	s := must.Have(server.NewServer(c.options[i].Clone()))(c.t)
	s.Start()
	c.t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(20 * time.Second) {
		c.t.Fatal("the server does not start")
	}
	c.servers[i] = s
}

// kill ends a server that can say no farewell to the others.
func (c *cluster) kill(i int) {
	c.alone(i, true)
	c.servers[i].Shutdown()
	c.servers[i].WaitForShutdown()
	c.alone(i, false)
}

// alone cuts a server off from the others and from its clients, or joins them.
func (c *cluster) alone(i int, off bool) {
	c.cut(i, off)
	c.clients[i].shut(off)
}

// cut keeps all from passing between a server and the others, or lets it pass again.
func (c *cluster) cut(i int, off bool) {
	for k := range c.options {
		if k != i {
			c.gates[i][k].shut(off)
			c.gates[k][i].shut(off)
		}
	}
}

// urls returns the addresses of all servers, the one at i first.
func (c *cluster) urls(i int) string {
	var all []string
	for k := range c.options {
		all = append(all, c.url((i+k)%len(c.options)))
	}
	return strings.Join(all, ",")
}

func (c *cluster) url(i int) string { return "nats://" + c.clients[i].address }

// leader returns the server that leads the bucket of a fleet.
func (c *cluster) leader(js jetstream.JetStream, fleet string) int {
	c.t.Helper()
	leader := -1
	must.Happen(c.t, "a leader", func() bool {
		ctx, stop := context.WithTimeout(c.t.Context(), time.Second)
		defer stop()
		stream, err := js.Stream(ctx, "KV_weir_fleet_"+fleet)
		if err != nil {
			return false
		}
		for i, o := range c.options {
			if cluster := stream.CachedInfo().Cluster; cluster != nil && cluster.Leader == o.ServerName {
				leader = i
			}
		}
		return leader >= 0
	})
	return leader
}
