package trust_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/trust"
)

func TestNetworks(t *testing.T) {
	peers := must.Have(trust.Networks("10.0.0.0/8", "192.0.2.7", "fd00::/8", "::1", "172.16.5.4/12", "::ffff:198.51.100.1", "fe80::2%eth0"))(t)
	for addr, want := range map[string]bool{
		"10.255.0.1":       true,
		"11.0.0.1":         false,
		"192.0.2.7":        true,
		"192.0.2.8":        false,
		"::ffff:10.0.0.1":  true,
		"::ffff:192.0.2.8": false,
		"fd12::1":          true,
		"fd12::1%eth0":     true,
		"fe80::1%eth0":     false,
		"fe80::2%eth1":     true,
		"198.51.100.1":     true,
		"::1":              true,
		"172.31.0.1":       true,
	} {
		if got := peers(trust.Peer{Addr: netip.MustParseAddr(addr)}); got != want {
			t.Errorf("%s: %v, want %v", addr, got, want)
		}
	}
	if peers(trust.Peer{}) {
		t.Error("a peer without an address is trusted")
	}
}

func TestNetworksThatAreNone(t *testing.T) {
	for _, text := range []string{
		"", "10.0.0.0/33", "10.0.0", "example.com", "::ffff:10.0.0.0/104", "10.0.0.1:80",
		"10.0.0.0/8 ",
	} {
		_, err := trust.Networks("::1", text)
		if !errors.Is(err, weir.ErrConfig) || !strings.Contains(err.Error(), `"`+text+`"`) {
			t.Errorf("%q: %v", text, err)
		}
	}
	none, err := trust.Networks()
	if err != nil || none(trust.Peer{Addr: netip.MustParseAddr("127.0.0.1")}) {
		t.Errorf("no networks: %v", err)
	}
}

func TestVerified(t *testing.T) {
	chain := [][]*x509.Certificate{{{}}}
	for name, c := range map[string]struct {
		state *tls.ConnectionState
		want  bool
	}{
		"no TLS":         {nil, false},
		"no certificate": {&tls.ConnectionState{}, false},
		"not verified":   {&tls.ConnectionState{PeerCertificates: chain[0]}, false},
		"verified":       {&tls.ConnectionState{PeerCertificates: chain[0], VerifiedChains: chain}, true},
	} {
		if got := trust.Verified(trust.Peer{TLS: c.state}); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
		if got := trust.Either(nil, trust.Verified)(trust.Peer{TLS: c.state}); got != c.want {
			t.Errorf("either, %s: %v", name, got)
		}
	}
}

func TestWithPriority(t *testing.T) {
	all, none := trust.Peers(func(trust.Peer) bool { return true }), trust.Peers(func(trust.Peer) bool { return false })
	for name, c := range map[string]struct {
		peers             trust.Peers
		priority, attempt []string
		want              weir.Priority
	}{
		"trusted":             {all, []string{"high"}, nil, weir.PriorityHigh},
		"not trusted":         {none, []string{"high"}, nil, weir.PriorityNormal},
		"nil":                 {nil, []string{"high"}, nil, weir.PriorityNormal},
		"no value":            {all, nil, nil, weir.PriorityNormal},
		"two":                 {all, []string{"high", "high"}, nil, weir.PriorityNormal},
		"unknown":             {all, []string{"highest"}, nil, weir.PriorityNormal},
		"first attempt":       {all, []string{"high"}, []string{"1"}, weir.PriorityHigh},
		"retry":               {all, []string{"critical"}, []string{"2"}, weir.PriorityHigh},
		"retry of a low one":  {all, []string{"low"}, []string{"2"}, weir.PriorityLow},
		"retry of no name":    {all, nil, []string{"11"}, weir.PriorityLow},
		"retry, not trusted":  {none, nil, []string{"2"}, weir.PriorityNormal},
		"two attempts":        {all, nil, []string{"2", "2"}, weir.PriorityNormal},
		"an attempt in words": {all, nil, []string{"two"}, weir.PriorityNormal},
		"a negative attempt":  {all, nil, []string{"-2"}, weir.PriorityNormal},
		"a signed attempt":    {all, nil, []string{"+2"}, weir.PriorityNormal},
		"beyond 63 bits":      {all, nil, []string{"9223372036854775808"}, weir.PriorityNormal},
	} {
		if got := weir.PriorityFrom(c.peers.WithPriority(t.Context(), trust.Peer{}, c.priority,
			c.attempt)); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	low := weir.WithPriority(t.Context(), weir.PriorityLow)
	if got := weir.PriorityFrom(all.WithPriority(low, trust.Peer{}, []string{"normal"}, nil)); got != weir.PriorityNormal {
		t.Errorf("normal replaces low: %v", got)
	}
	for before, want := range map[weir.Priority]weir.Priority{
		weir.PriorityHigh: weir.PriorityNormal, math.MaxInt8: weir.PriorityLow, math.MinInt8: weir.PriorityHigh,
	} {
		ctx := weir.WithPriority(t.Context(), before)
		if got := weir.PriorityFrom(all.WithPriority(ctx, trust.Peer{}, nil, []string{"2"})); got != want {
			t.Errorf("the retry of %d: %v, want %v", before, got, want)
		}
	}
}

func TestParsePriority(t *testing.T) {
	for p := weir.PriorityCritical; p <= weir.PriorityLow; p++ {
		if got, ok := trust.ParsePriority(p.String()); got != p || !ok {
			t.Errorf("%v: %v %v", p, got, ok)
		}
	}
	for _, text := range []string{"", "Highest", "-2", " high", "high\x00"} {
		if got, ok := trust.ParsePriority(text); got != weir.PriorityNormal || ok {
			t.Errorf("%q: %v %v", text, got, ok)
		}
	}
}

func TestPeersOfConnections(t *testing.T) {
	state := &tls.ConnectionState{}
	local := netip.MustParseAddr("127.0.0.1")
	if p := trust.FromAddr(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}, state); p.Addr.Unmap() != local || p.TLS != state {
		t.Errorf("%+v", p)
	}
	for _, addr := range []net.Addr{nil, (*net.TCPAddr)(nil), &net.UnixAddr{Name: "127.0.0.1"}} {
		if p := trust.FromAddr(addr, nil); p.Addr.IsValid() {
			t.Errorf("%v: %+v", addr, p)
		}
	}
	for remote, want := range map[string]netip.Addr{
		"127.0.0.1:80": local, "@": {}, "": {}, "127.0.0.1": {}, "example.com:80": {},
	} {
		if p := trust.FromRequest(&http.Request{RemoteAddr: remote, TLS: state}); p.Addr != want || p.TLS != state {
			t.Errorf("%q: %+v", remote, p)
		}
	}
}

func TestRequest(t *testing.T) {
	peers, err := trust.Networks("192.0.2.0/24") // httptest.NewRequest comes from there
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header.Set("X-Forwarded-For", "10.0.0.1")
	var none trust.Peers
	for name, c := range map[string]struct {
		peers trust.Peers
		want  bool
	}{"of the network": {peers, true}, "no certificate": {trust.Verified, false}, "nil": {none, false}} {
		if got := c.peers.Request(r); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func FuzzNetworks(f *testing.F) {
	f.Add("10.0.0.0/8", "10.1.2.3")
	f.Add("::1%x", "::1")
	f.Fuzz(func(t *testing.T, network, addr string) {
		peers, err := trust.Networks(network)
		if err != nil {
			return
		}
		from, _ := netip.ParseAddr(addr)
		if peers(trust.Peer{Addr: from}) && !from.IsValid() {
			t.Errorf("%q trusts a peer without an address", network)
		}
	})
}
