package weirhttp

import (
	"context"
	"net/http"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
)

// ByRoute returns a function for [Limit] that gives each route of the mux the compartment
// of its own in the set. The key is the pattern as it was registered, "GET /search/{term}",
// never the path that a client asked for. What no pattern matches is exempt, for the mux
// refuses it faster than any limiter.
//
//	http.ListenAndServe(":8080", weirhttp.Limit(mux, weirhttp.ByRoute(mux, set)))
//
// The mux is asked twice, here and when it serves. It panics if mux or set is nil.
func ByRoute(mux *http.ServeMux, set *bulkhead.Set) func(*http.Request) Gate {
	if mux == nil || set == nil {
		panic("weirhttp: ByRoute of a nil mux or set")
	}
	return func(r *http.Request) Gate {
		if _, pattern := mux.Handler(r); pattern != "" {
			return route{set, pattern}
		}
		return nil
	}
}

// A route is the gate of a key.
type route struct {
	set *bulkhead.Set
	key string
}

func (r route) Acquire(ctx context.Context) (weir.Permit, error) { return r.set.Acquire(ctx, r.key) }
