package proxy

import (
	"net/http"
	"strings"

	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/cmd/weir/internal/exchange"
	"github.com/weir-go/weir/cmd/weir/internal/spans"
)

// A router finds the route of a request. Patterns have the form of [http.ServeMux], which does
// the matching. A request keeps the path that its client sent: the mux's redirects to cleaner
// paths are not used.
type router struct {
	mux    *http.ServeMux
	routes map[string]route // by pattern
}

// A route answers the requests of a pattern.
type route struct {
	*exchange.Route
	config *config.Route
}

func newRouter() *router {
	return &router{mux: http.NewServeMux(), routes: map[string]route{}}
}

func (rt *router) add(to route) {
	pattern := to.config.Pattern()
	rt.mux.Handle(pattern, http.NotFoundHandler())
	rt.routes[pattern] = to
}

// find returns the route of a request, and notes it in the record. Without a route it answers
// the request.
func (rt *router) find(w http.ResponseWriter, r *http.Request, record *spans.Record) (to route, found bool) {
	switch {
	case r.Method == http.MethodConnect:
		http.Error(w, "CONNECT is not served", http.StatusMethodNotAllowed)
		return to, false
	case r.URL.Opaque != "": // GET x:http://other/path: the upstream would receive the part after the colon
		http.Error(w, "want a path, or a URL with a host", http.StatusBadRequest)
		return to, false
	}
	unmatched, pattern := rt.mux.Handler(plainHost(r))
	to, found = rt.routes[pattern]
	if !found {
		unmatched.ServeHTTP(w, r) // wrong path or method
		return to, false
	}
	record.Route, record.Compartment = pattern, to.config.Compartment
	return to, true
}

// plainHost returns the request with its host in the form of patterns: in lower case, and
// without the final dot that a full name may have.
func plainHost(r *http.Request) *http.Request {
	host := strings.ToLower(r.Host)
	host = strings.TrimSuffix(strings.Replace(host, ".:", ":", 1), ".")
	if host == r.Host { // the same string, in nearly all requests
		return r
	}
	changed := *r
	changed.Host = host
	return &changed
}
