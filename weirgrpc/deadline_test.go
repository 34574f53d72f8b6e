package weirgrpc_test

import (
	"context"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/deadline"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/trust"
	"github.com/weir-go/weir/weirgrpc"
	testpb "google.golang.org/grpc/interop/grpc_testing"
)

// hears says whether the deadline of a call counts.
type hears struct {
	*weir.Limiter
	counts chan bool
}

func (h hears) Acquire(ctx context.Context) (weir.Permit, error) {
	h.counts <- deadline.Of(ctx) != 0
	return h.Limiter.Acquire(ctx)
}

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
			lim := hears{limittest.Fixed(t, 1, weir.Queue{}), make(chan bool, 1)}
			client := limited(t, &service{}, lim, weirgrpc.ServerConfig{Trust: c.trusted})
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			if _, err := client.UnaryCall(ctx, &testpb.SimpleRequest{}); err != nil {
				t.Fatal(err)
			}
			if got := <-lim.counts; got != c.want {
				t.Errorf("a call: counts %v, want %v", got, c.want)
			}
			if _, err := client.StreamingCall(ctx); err != nil {
				t.Fatal(err)
			}
			if <-lim.counts {
				t.Error("that of a stream counts")
			}
		})
	}
}
