package trust_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/trust"
	"github.com/weir-go/weir/weirhttp"
)

func ExampleNetworks() {
	peers, err := trust.Networks("10.0.0.0/8", "::1")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(peers(trust.Peer{Addr: netip.MustParseAddr("10.1.2.3")}))
	fmt.Println(peers(trust.Peer{Addr: netip.MustParseAddr("192.0.2.1")}))
	// Output:
	// true
	// false
}

// Some certificates only, for one service.
func ExampleVerified() {
	billing := func(p trust.Peer) bool {
		return trust.Verified(p) && p.TLS.PeerCertificates[0].VerifyHostname("billing.internal") == nil
	}
	fmt.Println(billing(trust.Peer{}))
	// Output: false
}

func ExampleEither() {
	inside, _ := trust.Networks("10.0.0.0/8")
	peers := trust.Either(inside, trust.Verified)
	fmt.Println(peers(trust.Peer{Addr: netip.MustParseAddr("10.1.2.3")}))
	// Output: true
}

func ExamplePeers_Request() {
	inside, _ := trust.Networks("192.0.2.0/24")
	h := weirhttp.Trust(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		fmt.Println(weir.PriorityFrom(r.Context()))
	}), inside.Request)
	r := httptest.NewRequest(http.MethodGet, "/", nil) // from 192.0.2.1
	r.Header.Set(weirhttp.PriorityHeader, "critical")
	h.ServeHTTP(httptest.NewRecorder(), r)
	// Output: critical
}

func ExamplePeers_WithPriority() {
	var none trust.Peers
	ctx := none.WithPriority(context.Background(), trust.Peer{}, []string{"critical"}, nil)
	fmt.Println(weir.PriorityFrom(ctx))
	// Output: normal
}

// The second attempt at a critical call comes after the first attempts of critical calls.
func ExampleTold() {
	ctx := trust.Told(context.Background(), []string{"critical"}, []string{"2"})
	fmt.Println(weir.PriorityFrom(ctx))
	// Output: high
}

func ExampleParsePriority() {
	fmt.Println(trust.ParsePriority("high"))
	fmt.Println(trust.ParsePriority("urgent"))
	// Output:
	// high true
	// normal false
}

func ExampleFromRequest() {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	fmt.Println(trust.FromRequest(r).Addr)
	// Output: 192.0.2.1
}
