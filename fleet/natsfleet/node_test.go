package natsfleet_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weir-go/weir/internal/must"
)

// nodeEnv has the node that a process is, as JSON.
const nodeEnv = "NATSFLEET_NODE"

func TestMain(m *testing.M) {
	if text := os.Getenv(nodeEnv); text != "" {
		if err := runNode(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// A node is a server of NATS of a cluster.
type node struct {
	Name, Dir     string
	Port, Cluster int
	Routes        []string // to the others
}

// runNode runs a server until its input ends.
func runNode(text string) error {
	var n node
	if err := json.Unmarshal([]byte(text), &n); err != nil {
		return err
	}
	o := &server.Options{
		ServerName: n.Name, Host: "127.0.0.1", Port: n.Port, NoSigs: true, NoLog: true, JetStream: true, StoreDir: n.Dir,
		Authorization: "secret", Cluster: server.ClusterOpts{
			Name: "test", Host: "127.0.0.1", Port: n.Cluster,
			Advertise: "127.0.0.1:1",
		}, // so that servers only meet through gates
	}
	for _, route := range n.Routes {
		o.Routes = append(o.Routes, &url.URL{Scheme: "nats", Host: route})
	}
	s, err := server.NewServer(o)
	if err != nil {
		return err
	}
	s.Start()
	_, err = io.Copy(io.Discard, os.Stdin)
	s.Shutdown()
	return err
}

// A cluster has three servers of NATS, each a process.
type cluster struct {
	t     *testing.T
	nodes [3]node
	// gates[i][k] is on the way from server i to server k, clients[i] on the way from clients to
	// server i.
	gates   [3][3]*gate
	clients [3]*gate
	kills   [3]func()
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{t: t}
	var ports [3][2]net.Listener // held until all are found, so that no two are the same
	for i := range c.nodes {
		ports[i] = [2]net.Listener{listen(t), listen(t)}
		c.nodes[i] = node{Name: fmt.Sprintf("n%d", i), Dir: t.TempDir(), Port: portOf(ports[i][0]), Cluster: portOf(ports[i][1])}
		c.clients[i] = newGate(t, c.nodes[i].Port)
	}
	for i := range c.nodes {
		for k := range c.nodes {
			if k != i {
				c.gates[i][k] = newGate(t, c.nodes[k].Cluster)
				c.nodes[i].Routes = append(c.nodes[i].Routes, c.gates[i][k].address)
			}
		}
	}
	for _, held := range ports {
		held[0].Close()
		held[1].Close()
	}
	for i := range c.nodes {
		c.start(i)
	}
	return c
}

// listen takes a free port.
func listen(t *testing.T) net.Listener {
	t.Helper()
	l := must.Have(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func portOf(l net.Listener) int { return l.Addr().(*net.TCPAddr).Port }

func (c *cluster) start(i int) {
	c.t.Helper()
	text := must.Have(json.Marshal(c.nodes[i]))(c.t)
	cmd := exec.Command(os.Args[0]) //nolint:gosec // this test
	cmd.Env = append(os.Environ(), nodeEnv+"="+string(text))
	cmd.Stderr = os.Stderr
	if _, err := cmd.StdinPipe(); err != nil { // which ends with this process
		c.t.Fatal(err)
	}
	must.Do(c.t, cmd.Start())
	kill := func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }
	c.kills[i] = kill
	c.t.Cleanup(kill)
	must.Happen(c.t, "the server listens", func() bool {
		conn, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(c.nodes[i].Port)))
		return err == nil && conn.Close() == nil
	})
}

// kill kills a server.
func (c *cluster) kill(i int) { c.kills[i]() }

// cut keeps all from passing between a server and the others, or lets it pass again.
func (c *cluster) cut(i int, off bool) {
	for k := range c.nodes {
		if k != i {
			c.gates[i][k].shut(off)
			c.gates[k][i].shut(off)
		}
	}
}

// urls returns the addresses of all servers, the one at i first.
func (c *cluster) urls(i int) string {
	var all []string
	for k := range c.nodes {
		all = append(all, c.url((i+k)%len(c.nodes)))
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
		for i, n := range c.nodes {
			if cluster := stream.CachedInfo().Cluster; cluster != nil && cluster.Leader == n.Name {
				leader = i
			}
		}
		return leader >= 0
	})
	return leader
}
