package trust

import (
	"context"
	"strconv"
	"strings"

	"github.com/weir-go/weir"
)

// The keys of gRPC metadata in which a client describes a call to a server: the headers of
// package weirhttp, in lower case.
const (
	// Key has the call's [weir.Priority] by name, such as "high".
	Key = "weir-priority"
	// AttemptKey has the number of the attempt, 2 for the first retry.
	AttemptKey = "weir-attempt"
)

// ParsePriority reads the output of [weir.Priority.String]: critical, high, normal or low, in
// upper or lower case.
func ParsePriority(text string) (p weir.Priority, ok bool) {
	for p := weir.PriorityCritical; p <= weir.PriorityLow; p++ {
		if strings.EqualFold(p.String(), text) {
			return p, true
		}
	}
	return weir.PriorityNormal, false
}

// WithPriority returns ctx with the priority in the values of a peer's headers or metadata,
// as [Told] does, or ctx unchanged if the peer is not trusted.
func (trusts Peers) WithPriority(ctx context.Context, from Peer, priority, attempt []string) context.Context {
	if len(priority)+len(attempt) == 0 || trusts == nil || !trusts(from) {
		return ctx
	}
	return Told(ctx, priority, attempt)
}

// Told returns ctx with the priority that a trusted peer sent. If the attempt says that the request
// is a retry, ctx gets the next lower priority, so that a queue refuses retries before first
// attempts. A header counts only if it has exactly one value, and the value is valid: of two
// values, one may come from a stranger, past a trusted proxy that only adds its own value.
func Told(ctx context.Context, priority, attempt []string) context.Context {
	p, told := ParsePriority(single(priority))
	if !told {
		p = weir.PriorityFrom(ctx)
	}
	if n, err := strconv.ParseUint(single(attempt), 10, 63); err == nil && n > 1 {
		p = min(max(p, weir.PriorityCritical), weir.PriorityLow-1) + 1
	}
	return weir.WithPriority(ctx, p)
}

// single returns the value of a header that occurs once, and no text for other headers.
func single(values []string) string {
	if len(values) == 1 {
		return values[0]
	}
	return ""
}
