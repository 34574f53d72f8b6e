package weirgrpc_test

import (
	"context"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/trust"
	"github.com/weir-go/weir/weirgrpc"
	testpb "google.golang.org/grpc/interop/grpc_testing"
)

// TestDeadlinesOfPeers that are trusted count. That of a stream counts for none of its messages.
func TestDeadlinesOfPeers(t *testing.T) {
	for name, c := range map[string]struct {
		trusted trust.Peers
		want    bool
	}{
		"trusted":         {networks(t, "127.0.0.0/8"), true},
		"of another net":  {networks(t, "10.0.0.0/8", "::1"), false},
		"none is trusted": {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			lim := limittest.Dated{Limiter: limittest.Fixed(t, 1, weir.Queue{}), Counts: make(chan bool, 1)}
			client := limited(t, &service{}, lim, weirgrpc.ServerConfig{Trust: c.trusted})
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			if _, err := client.UnaryCall(ctx, &testpb.SimpleRequest{}); err != nil {
				t.Fatal(err)
			}
			if got := <-lim.Counts; got != c.want {
				t.Errorf("a call: counts %v, want %v", got, c.want)
			}
			if _, err := client.StreamingCall(ctx); err != nil {
				t.Fatal(err)
			}
			if <-lim.Counts {
				t.Error("that of a stream counts")
			}
		})
	}
}

// TestTrustIsAskedForDeadlines only: a call without one needs no look at its peer.
func TestTrustIsAskedForDeadlines(t *testing.T) {
	asked := 0
	trusted := func(trust.Peer) bool { asked++; return true }
	client := limited(t, &service{}, limittest.Fixed(t, 1, weir.Queue{}), weirgrpc.ServerConfig{Trust: trusted})
	for want := range 2 {
		ctx := context.Background()
		if want > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, time.Hour)
			defer cancel()
		}
		if _, err := client.UnaryCall(ctx, &testpb.SimpleRequest{}); err != nil {
			t.Fatal(err)
		}
		if asked != want {
			t.Errorf("asked %d times, want %d", asked, want)
		}
	}
}
