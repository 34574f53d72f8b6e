package config

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/weir-go/weir/internal/nearest"
)

// Route matches requests and says how to handle them.
type Route struct {
	Host   string `yaml:"host" form:"route host" help:"The requested host. Defaults to any."`
	Path   string `yaml:"path" help:"A pattern as in net/http: /search/{term}, /static/ for all paths below it, /users/{id}/{$}. Defaults to /, which is all paths."`
	Method string `yaml:"method" form:"method" help:"The method; GET matches HEAD too. Defaults to any."`
	GRPC   string `yaml:"grpc" form:"grpc" help:"A method of gRPC, package.Service/Method, or package.Service/* for all methods. Replaces path and method."`

	Upstream    string `yaml:"upstream" help:"The upstream. Defaults to the only one."`
	Compartment string `yaml:"compartment" help:"The compartment. Defaults to the one named after the upstream."`
	Exempt      bool   `yaml:"exempt" help:"Limits the route only by the cap of exempt requests, not by a law."`

	Priority string   `yaml:"priority" enum:"critical,high,normal,low" default:"normal" help:"The priority in the queue. A trusted client may set another."`
	Tenant   string   `yaml:"tenant" form:"tenant" help:"The tenant of a request in the queue: address (the client's), certificate (its verified subject), or header:NAME, for trusted clients only."`
	Timeout  Duration `yaml:"timeout" default:"1m" help:"How long the upstream may take to begin its response, and to end it while it holds a slot. Then the client gets a 504. It begins anew with each piece of an upload, and a client whose next piece takes longer gets a 408. 0 is no limit."`
	Leaves   string   `yaml:"client_leaves" enum:"finish,cancel" default:"finish" help:"If the client leaves: finish waits for the response, because the upstream may still work on it; cancel closes the connection to the upstream and frees the slot."`
	Pushback bool     `yaml:"pushback" help:"Counts the upstream's 429 as an overload, like its 503. By default the law ignores a 429, because most are quotas of one key."`
	MaxBody  Bytes    `yaml:"max_body" default:"0" help:"The longest body of a request; 0 is no limit."`
	Body     string   `yaml:"body" enum:"buffer,stream" default:"buffer" help:"buffer reads the body before it sends the request to the upstream. stream, for conversations, sends the body on as it arrives; a request whose body takes longer than 50ms is then a stream."`
	Streams  int      `yaml:"streams,omitempty" min:"1" help:"Cap on streams of the route. Defaults to half of streams.max, or to all of it if there is one route."`
}

// Pattern returns the pattern of a complete route for [http.ServeMux]. The mux compares the
// host case-sensitively: look it up in lower case.
func (r Route) Pattern() string {
	method, path := r.Method, r.Path
	if r.GRPC != "" {
		method, path = http.MethodPost, "/"+strings.TrimSuffix(r.GRPC, "*")
	}
	return strings.TrimPrefix(method+" "+r.Host+path, " ")
}

func (c *checker) routes() {
	for i, r := range c.Routes {
		path := item("routes", i)
		c.match(r, path)
		if _, ok := c.Upstreams[r.Upstream]; !ok && !c.faults.cover("upstreams") {
			c.missing(path+".upstream", r.Upstream, c.Upstreams)
		}
		c.slot(r, path)
		c.tenant(r, path)
	}
}

func (c *checker) missing(path, name string, known map[string]Upstream) {
	if name == "" {
		c.refuse(path, "is missing, and there are several: want %s", nearest.Alternatives(sortedKeysOf(known)))
		return
	}
	c.refuse(path, "is %s, which does not exist: %s", quoted(name), nearest.Advice(name, sortedKeysOf(known)))
}

func (c *checker) match(r Route, path string) {
	if r.GRPC != "" {
		if r.Path != "" || r.Method != "" {
			c.refuse(path+".grpc", "is set beside path or method: want one or the other")
		}
		return
	}
	err := register(http.NewServeMux(), r.Path)
	switch {
	case !strings.HasPrefix(r.Path, "/"):
		c.isnt(path+".path", r.Path, "a pattern such as /search/{term} or /static/")
	case err != nil:
		c.isnt(path+".path", r.Path, "a pattern such as /search/{term} or /static/: "+err.Error())
	}
}

func (c *checker) slot(r Route, path string) {
	_, own := c.Compartments[r.Compartment]
	_, upstream := c.Upstreams[r.Compartment]
	switch {
	case r.Exempt && r.Compartment != "":
		c.refuse(path+".compartment", "is %s beside exempt: want one of them", quoted(r.Compartment))
	case r.Exempt || own || upstream || r.Compartment == r.Upstream: // the upstream has its own fault
	default:
		known := append(sortedKeysOf(c.Compartments), sortedKeysOf(c.Upstreams)...)
		slices.Sort(known)
		c.refuse(path+".compartment", "is %s, which does not exist: %s", quoted(r.Compartment), nearest.Advice(r.Compartment, slices.Compact(known)))
	}
}

// tenant checks that tenants are configured in the compartment, and that a listener can
// verify them.
func (c *checker) tenant(r Route, path string) {
	path += ".tenant"
	switch {
	case r.Tenant == "":
	case c.compartment(r.Compartment).Queue.Tenants == 0:
		c.isnt(path, r.Tenant, "none without queue.tenants in its compartment")
	case r.Tenant == "certificate" && !slices.ContainsFunc(c.Listeners, func(l Listener) bool { return l.TLS != nil && l.TLS.ClientCA != "" }):
		c.isnt(path, r.Tenant, "none without tls.client_ca in a listener")
	case strings.HasPrefix(r.Tenant, "header:") && !slices.ContainsFunc(c.Listeners, func(l Listener) bool { return len(l.Trusted) > 0 }):
		c.isnt(path, r.Tenant, "none without trusted in a listener")
	}
}

// patterns checks that one of two overlapping routes is more specific.
func (c *checker) patterns() {
	mux := http.NewServeMux()
	for i, r := range c.Routes {
		path := item("routes", i)
		if c.faults.touch(path+".host", path+".path", path+".method", path+".grpc") || register(mux, r.Pattern()) == nil {
			continue
		}
		for j, other := range c.Routes[:i] {
			if conflict(other.Pattern(), r.Pattern()) {
				c.refuse(path, "is for %s, and routes[%d] is for %s: some requests match both, and neither is more specific%s",
					quoted(r.Pattern()), j, quoted(other.Pattern()), line(c.at(item("routes", j))))
				break
			}
		}
	}
}

// conflict reports whether a mux accepts each pattern alone but not both.
func conflict(first, second string) bool {
	mux := http.NewServeMux()
	return register(mux, first) == nil && register(http.NewServeMux(), second) == nil && register(mux, second) != nil
}

// register adds a pattern to a mux, and returns the mux's panic as an error.
func register(mux *http.ServeMux, pattern string) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("%v", fault)
		}
	}()
	mux.Handle(pattern, http.NotFoundHandler())
	return nil
}
