package trust

import (
	"context"
	"strings"

	"github.com/weir-go/weir"
)

// Key is the key of gRPC metadata that carries a priority from one service to the next, by its name: weirhttp.PriorityHeader
// in lower case.
const Key = "weir-priority"

// ParsePriority reads what [weir.Priority.String] writes: critical, high, normal or low, in upper or lower case.
func ParsePriority(text string) (p weir.Priority, ok bool) {
	for p := weir.Critical; p <= weir.Low; p++ {
		if strings.EqualFold(p.String(), text) {
			return p, true
		}
	}
	return weir.Normal, false
}

// WithPriority returns ctx with the priority that a peer sent in the values of its header or metadata, or ctx as it is: if
// the peer is not trusted, or the values are not exactly one known priority. Of two values one may come from a stranger, past
// a trusted proxy that only adds its own.
func (trusts Peers) WithPriority(ctx context.Context, from Peer, values []string) context.Context {
	if len(values) != 1 || trusts == nil {
		return ctx
	}
	p, ok := ParsePriority(values[0])
	if !ok || !trusts(from) {
		return ctx
	}
	return weir.WithPriority(ctx, p)
}
