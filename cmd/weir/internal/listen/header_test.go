package listen

import (
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/pires/go-proxyproto"

	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/internal/must"
)

func addresses(w http.ResponseWriter, r *http.Request) {
	host, _, _ := net.SplitHostPort(connOf(r.Context()).Conn.RemoteAddr().String())
	_, _ = io.WriteString(w, r.RemoteAddr+" by "+host)
}

func version2(t *testing.T, command proxyproto.ProtocolVersionAndCommand) string {
	t.Helper()
	h := proxyproto.Header{
		Version: 2, Command: command, TransportProtocol: proxyproto.TCPv6,
		SourceAddr:      &net.TCPAddr{IP: net.ParseIP("2001:db8::1"), Port: 5000},
		DestinationAddr: &net.TCPAddr{IP: net.ParseIP("2001:db8::2"), Port: 80},
	}
	text := must.Have(h.Format())(t)
	return string(text)
}

func TestProxyProtocol(t *testing.T) {
	l := start(t, addresses, func(c *config.Listener) { c.ProxyProtocol = []string{"127.0.0.1"} })
	for name, test := range map[string]struct{ header, want string }{
		"version 1":         {"PROXY TCP4 192.0.2.1 192.0.2.2 5000 80\r\n", "192.0.2.1:5000 by 127.0.0.1"},
		"version 2":         {version2(t, proxyproto.PROXY), "[2001:db8::1]:5000 by 127.0.0.1"},
		"none":              {"", ""},
		"garbage":           {"PROXY TCP4 example.com\r\n", ""},
		"truncated":         {version2(t, proxyproto.PROXY)[:14], ""},
		"too long":          {"PROXY TCP4 " + string(make([]byte, 200)), ""},
		"version 1 in TCP6": {"PROXY TCP6 192.0.2.1 192.0.2.2 5000 80\r\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			before := l.Counts().BadHeader
			_, answers := dial(t, l, test.header+get)
			status, body := answer(t, answers)
			if body != test.want || (status == http.StatusOK) != (test.want != "") {
				t.Errorf("%d %q, want %q", status, body, test.want)
			}
			if bad := l.Counts().BadHeader - before; (bad == 1) != (test.want == "") {
				t.Errorf("counted %d bad headers", bad)
			}
		})
	}
}

func TestProxyProtocolOfHealthChecks(t *testing.T) {
	l := start(t, addresses, func(c *config.Listener) { c.ProxyProtocol = []string{"127.0.0.0/8"} })
	for _, header := range []string{version2(t, proxyproto.LOCAL), "PROXY UNKNOWN\r\n"} {
		conn, answers := dial(t, l, header+get)
		if _, body := answer(t, answers); body != conn.LocalAddr().String()+" by 127.0.0.1" {
			t.Errorf("%q: %q, want its own address", header, body)
		}
	}
	conn, _ := dial(t, l, "")
	conn.Close() // a port check
	must.Happen(t, "it is gone", func() bool { return l.Counts().Open <= 2 && l.Counts().Accepted == 3 })
	if n := l.Counts(); n.BadHeader != 0 {
		t.Errorf("%+v, want no bad header", n)
	}
}

func TestSlowHeaderOfProxyProtocol(t *testing.T) {
	l := start(t, addresses, func(c *config.Listener) { c.ProxyProtocol = []string{"127.0.0.1"}; c.HeaderTimeout = short })
	for _, part := range []string{"", "PROXY ", "PROXY TCP4 192.0.2.1 192.0.2.2 5000 80\r\nGET / HT"} {
		_, answers := dial(t, l, part)
		if status, _ := answer(t, answers); status != 0 && status != http.StatusBadRequest {
			t.Errorf("after %q: status %d", part, status)
		}
	}
	must.Happen(t, "all are closed", func() bool { return l.Counts().Open == 0 })
	if n := l.Counts(); n.BadHeader != 2 {
		t.Errorf("%+v, want two bad headers", n)
	}
}

func TestCapOnAnAddressBehindTheProxyProtocol(t *testing.T) {
	l := start(t, addresses, func(c *config.Listener) {
		c.ProxyProtocol, c.Trusted, c.MaxConnectionsPerAddress = []string{"127.0.0.1"}, []string{"192.0.2.9"}, 2
	})
	for _, test := range []struct {
		addresses string
		open      int
	}{
		{"TCP4 192.0.2.1 192.0.2.2", 2},
		{"TCP4 192.0.2.2 192.0.2.2", 2},
		{"TCP4 192.0.2.9 192.0.2.2", 5},
		{"TCP6 2001:db8::1 2001:db8::f", 2},
		{"TCP6 2001:db8::2 2001:db8::f", 0}, // of the same network, which one client may have
	} {
		if open := flood(t, l, 5, "PROXY "+test.addresses+" 5000 80\r\n"+get); len(open) != test.open {
			t.Errorf("%s: %d of 5 answered, want %d", test.addresses, len(open), test.open)
		}
	}
	if n := l.Counts(); n.OverAddress != 14 || n.Open != 11 {
		t.Errorf("%+v", n)
	}
}
