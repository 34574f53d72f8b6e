package weirhttp

import (
	"context"
	"net/http"
	"reflect"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
)

// ByRoute returns a function for [Limit] that gives each route of the mux its own compartment in
// the set. The key is the pattern as it was registered, "GET /search/{term}", never the path that a
// client asked for. A request that no pattern matches is exempt, because the mux refuses it faster
// than any limiter. So is a CONNECT that the mux redirects.
//
//	http.ListenAndServe(":8080", weirhttp.Limit(mux, weirhttp.ByRoute(mux, set)))
//
// The mux finds the route of each request twice, here and when it serves. ByRoute panics if mux or
// set is nil.
func ByRoute(mux *http.ServeMux, set *bulkhead.Set) func(*http.Request) weir.Admitter {
	if mux == nil {
		panic(missing("ByRoute: mux", "the mux that Limit is put around"))
	}
	if set == nil {
		panic(missing("ByRoute: set", aSet))
	}
	return func(r *http.Request) weir.Admitter {
		h, pattern := mux.Handler(r)
		if pattern == "" || r.Method == http.MethodConnect && reflect.TypeOf(h) == redirects {
			return nil
		}
		return compartment{set, pattern}
	}
}

// redirects is the type of the handler by which a mux redirects CONNECT /tree to /tree/. The mux
// then names the path that the client asked for in place of a pattern.
var redirects = reflect.TypeOf(http.RedirectHandler("/", http.StatusTemporaryRedirect))

// aSet says where a set comes from. A caller that ignores the error of bulkhead.New has a nil set.
const aSet = "one of bulkhead.New, whose error says why there is none"

// ByKey returns a function for [Limit] and [Transport] that gives each key its own compartment in
// the set. A key is the pattern of another router's route, a tenant, or a downstream. Choose few
// keys, which no stranger can invent: the pattern and not the path, the account and not the name in
// a header. All keys that the set does not name share its bound on keys. A pattern is known only
// once the router has found the route: in chi, within a Group or a With.
//
// A request whose key is empty or too long is refused with 400. If it were exempt, a client could
// leave out the parts of the key. To exempt a request, use [Exempt] or return a nil admitter from a
// function of your own. Give all requests that no route matches the same key, such as "unmatched".
//
// key is called concurrently. ByKey panics if set or key is nil.
func ByKey(set *bulkhead.Set, key func(*http.Request) string) func(*http.Request) weir.Admitter {
	if set == nil {
		panic(missing("ByKey: set", aSet))
	}
	if key == nil {
		panic(missing("ByKey: key", "a function that names the key of a request"))
	}
	return func(r *http.Request) weir.Admitter { return compartment{set, key(r)} }
}

type compartment struct {
	set *bulkhead.Set
	key string
}

func (c compartment) Acquire(ctx context.Context) (weir.Permit, error) {
	return c.set.Acquire(ctx, c.key)
}

// Snapshot returns the state of the key's limiter, because uploads may hold a part of its limit.
func (c compartment) Snapshot() weir.Snapshot {
	handle, _ := c.set.Handle(c.key) // nil for a bad key, which has no limit
	return handle.Snapshot()
}
