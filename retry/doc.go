// Package retry retries the calls of clients to a downstream that refuses work. It makes the
// retries later, and makes fewer of them. It knows no protocol.
// [github.com/weir-go/weir/weirhttp.RetryTransport] applies it to HTTP, and the RetryClient of the
// modules weirgrpc and weirconnect to gRPC and Connect.
//
//	client, err := retry.New(retry.Config{Name: "search"})
//	err = client.Do(ctx, func(ctx context.Context) error { return search(ctx, query) })
//
// A [Client] is for one downstream and is shared by all calls to it. It decides when to retry, how
// many retries to allow, and which calls are not worth sending. The defaults need no change.
//
// # When to come back
//
// A call is sent at most Attempts times. The nth retry waits for
//
//	Backoff * 2^(n-1) * (0.5 + u)
//
// where u is uniformly random between 0 and 1. If the downstream named a time to come back, the
// retry waits for at least one to two times as long, by [github.com/weir-go/weir/edge.RetryAfter],
// so that clients that were refused together do not come back together. The call ends if the
// downstream asks for more than MaxWait, or if the wait would last to the deadline of the call's
// context.
//
// # How many retries
//
// Three retries for each call turn an overload into four times the load, and keep the overload up
// after its cause has gone. A [Budget] bounds the retries of all calls together. It allows a retry
// while
//
//	retries + 1 <= Share * successes + MinPerSecond * Window
//
// counted over the last Window. With the defaults a downstream that answers 1000 calls a second
// gets at most 101 retries a second. A downstream that answers no calls gets one retry a second
// from each client. The least rate is for clients with little traffic: a tenth of three calls is no
// retry at all.
//
// # Which calls are not worth sending
//
// A [Throttler] keeps two counts over its Window: the requests that the application made, and
// the requests that the downstream accepted. It refuses the share
//
//	p = max(0, (requests - K*accepts) / (requests + 1)), at most MaxReject
//
// of the calls before they are sent. Until the downstream refuses half of the calls (K = 2), the
// throttle refuses nothing. Beyond that the downstream gets about K times the calls that it
// accepts, and the other calls cost it nothing.
//
// Each [github.com/weir-go/weir.Priority] has its own counts: a server refuses low priorities
// first, so the throttle of its clients does too.
//
// A call counts when it ends, so give calls a timeout: a call that hangs is no evidence until then.
// If a call counted when it is sent, most of a hundred calls that a new client sends at once would
// be refused, because the downstream has not accepted any of them yet.
//
// With MaxReject = 1 a downstream that recovers from a long outage gets one call in each Window at
// first, and recovery takes six windows. With 0.9, a tenth of the calls always goes through, and
// recovery takes two windows:
//
//	go test -run Recovers -v ./retry
//
// # Sources
//
//   - B. Beyer and others: Site Reliability Engineering, 2016, chapter 21, Handling Overload:
//     adaptive throttling, and counts for each criticality.
//   - Finagle's RetryBudget (ttl, minRetriesPerSec, percentCanRetry) and Envoy's retry_budget
//     (budget_percent, min_retry_concurrency): a share, and a least number for little traffic.
//     These are a share of the requests. Ours is a share of the successes, which gets smaller
//     in an overload.
//   - M. Brooker: Exponential Backoff and Jitter, AWS Architecture Blog, 2015.
//   - gRPC's adaptive throttle (grpc-go, balancer/rls): a window of 30 s.
package retry
