package listen

import (
	"bufio"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/internal/locked"
	"github.com/weir-go/weir/internal/must"
)

// flood opens connections that each send text, and returns the open ones that were answered.
func flood(t *testing.T, l *Listener, n int, text string) (open []net.Conn) {
	t.Helper()
	for range n {
		conn, answers := dial(t, l, "")
		_, _ = io.WriteString(conn, text)
		if status, _ := answer(t, answers); status == http.StatusOK {
			open = append(open, conn)
		}
	}
	return open
}

func TestCapOnConnections(t *testing.T) {
	release := make(chan struct{})
	l := start(t, func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}, func(c *config.Listener) { c.MaxConnections = 50 })
	defer close(release)
	var conns []net.Conn
	closed := 0
	for range 200 {
		conn, answers := dial(t, l, "")
		_, _ = io.WriteString(conn, get)
		if _, err := answers.Peek(1); err != nil {
			closed++
		} else {
			conns = append(conns, conn)
		}
	}
	if n := l.Counts(); closed != 150 || n.Open != 50 || n.Accepted != 200 || n.OverTotal != 150 || n.Displaced != 0 {
		t.Errorf("%d closed, %+v; want 50 of 200 open", closed, n)
	}
	l.mu.Lock()
	for address, n := range l.addresses {
		if n != 50 {
			t.Errorf("%d connections of %v count, want 50", n, address)
		}
	}
	l.mu.Unlock()
	for _, conn := range conns[:10] {
		conn.Close()
	}
	must.Happen(t, "their places are free", func() bool { return l.Counts().Open == 40 })
}

func TestIdleConnectionsGiveWay(t *testing.T) {
	l := start(t, hello, func(c *config.Listener) { c.MaxConnections = 50 })
	open := flood(t, l, 200, get)
	if n := l.Counts(); len(open) != 200 || n.Open != 50 || n.Displaced != 150 || n.OverTotal != 0 {
		t.Errorf("%d of 200 answered, %+v; want the idle ones closed", len(open), n)
	}
	for _, i := range []int{100, 175} {
		_, _ = io.WriteString(open[i], get)
		if status, _ := answer(t, bufio.NewReader(open[i])); (status == http.StatusOK) != (i == 175) {
			t.Errorf("connection %d: status %d, want those that were idle for longest closed", i, status)
		}
	}
}

// Clients that open connections and never finish a request cannot keep others out.
func TestConnectionsWithoutARequestGiveWay(t *testing.T) {
	const most = 5
	for name, begin := range map[string]string{"nothing": "", "half a header": "GET / HTTP/1.1\r\nHo", "half a preface": preface[:10]} {
		l := start(t, hello, func(c *config.Listener) { c.MaxConnections = most })
		for range most {
			dial(t, l, begin)
		}
		must.Happen(t, "all are open", func() bool { return l.Counts().Open == most })
		_, answers := dial(t, l, get)
		if status, _ := answer(t, answers); status != http.StatusOK || l.Counts().Displaced != 1 {
			t.Errorf("beside connections with %s: status %d, %+v", name, status, l.Counts())
		}
	}
}

func TestIdleConnectionsOfHTTP2GiveWay(t *testing.T) {
	l := start(t, hello, func(c *config.Listener) { c.MaxConnections = 1 })
	for i := range 3 {
		c := client(t, (*http.Protocols).SetUnencryptedHTTP2)
		must.Happen(t, "the one before is idle", func() bool {
			l.mu.Lock()
			defer l.mu.Unlock()
			return i == 0 || l.idle.Len() == 1
		})
		if status, text, _ := fetch(t, c, "http://"+l.Addr().String()); status != http.StatusOK {
			t.Errorf("client %d: %d %s", i, status, text)
		}
	}
}

func TestCapOnConnectionsOfAnAddress(t *testing.T) {
	// Of all connections there may be no more: one that is refused closes none that is idle.
	limited := func(c *config.Listener) { c.MaxConnectionsPerAddress, c.MaxConnections = 3, 3 }
	l := start(t, hello, limited)
	open := flood(t, l, 10, get)
	if n := l.Counts(); len(open) != 3 || n.Open != 3 || n.OverAddress != 7 {
		t.Errorf("%d of 10 answered, %+v; want 3", len(open), n)
	}
	open[0].Close()
	must.Happen(t, "its place is free", func() bool { return l.Counts().Open == 2 })
	if more := flood(t, l, 2, get); len(more) != 1 {
		t.Errorf("%d of 2 answered, want 1", len(more))
	}

	change := settings(func(c *config.Listener) { limited(c); c.Trusted = []string{"127.0.0.0/8"} })
	must.Do(t, l.Update(change))
	if more := flood(t, l, 10, get); len(more) != 10 {
		t.Errorf("%d of 10 trusted ones answered", len(more))
	}
}

// An operator finds in the log why clients cannot connect.
func TestRefusedConnectionsAreLogged(t *testing.T) {
	for why, test := range map[string]struct {
		change func(*config.Listener)
		want   Counts
	}{
		"max_connections are in use":            {func(c *config.Listener) { c.MaxConnections = 1 }, Counts{Open: 1, OverTotal: 1}},
		"has max_connections_per_address":       {func(c *config.Listener) { c.MaxConnectionsPerAddress = 1 }, Counts{Open: 1, OverAddress: 1}},
		"is not in proxy_protocol":              {func(c *config.Listener) { c.ProxyProtocol = []string{"10.0.0.0/8"} }, Counts{BadHeader: 2}},
		"no valid header of the PROXY protocol": {func(c *config.Listener) { c.ProxyProtocol = []string{"127.0.0.1"} }, Counts{BadHeader: 2}},
	} {
		said := new(locked.Buffer)
		l := startLogging(t, slog.New(slog.NewTextHandler(said, nil)), func(w http.ResponseWriter, r *http.Request) {
			w.(http.Flusher).Flush()
			<-r.Context().Done() // one without a request would give way
		}, test.change)
		for range 2 {
			conn, answers := dial(t, l, get)
			defer conn.Close()
			_, _ = answers.Peek(1)
		}
		must.Happen(t, why, func() bool {
			return strings.Contains(said.String(), "connection refused") && strings.Contains(said.String(), "client=127.0.0.1") && strings.Contains(said.String(), why)
		})
		test.want.Accepted = 2
		must.Happen(t, "it is counted: "+why, func() bool { return l.Counts() == test.want })
	}
}
