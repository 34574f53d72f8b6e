package config

// Route says what becomes of the requests that it matches.
type Route struct {
	Host   string `yaml:"host" help:"Host that is asked for. Defaults to any."`
	Path   string `yaml:"path" help:"Pattern as in net/http: /search/{term}, /static/ for all below it, /users/{id}/{$}. Defaults to /, which is all."`
	Method string `yaml:"method" help:"Method; GET matches HEAD too. Defaults to any."`
	GRPC   string `yaml:"grpc" help:"A method of gRPC, package.Service/Method, or package.Service/* for all. In place of path and method."`

	Upstream    string `yaml:"upstream" help:"Its upstream. Defaults to the only one."`
	Compartment string `yaml:"compartment" help:"Its compartment. Defaults to that named after the upstream."`
	Exempt      bool   `yaml:"exempt" help:"No law limits it; the cap of exempt requests does."`

	Priority string   `yaml:"priority" enum:"critical,high,normal,low" default:"normal" help:"Who gives way in the queue. A trusted client may say otherwise."`
	Tenant   string   `yaml:"tenant" help:"Whose share of the queue a request takes: address (the client's), certificate (its verified subject), or header:NAME, of which the client must be trusted."`
	Timeout  Duration `yaml:"timeout" default:"1m" help:"How long the upstream may take to begin its answer, and to end it while it holds a slot. Then the client gets a 504. 0 is any time."`
	Leaves   string   `yaml:"client_leaves" enum:"finish,cancel" default:"finish" help:"finish waits for the answer of a request whose client has left, because the upstream may still work on it; cancel closes the connection to the upstream and frees the slot."`
	MaxBody  Bytes    `yaml:"max_body" default:"0" help:"Longest body of a request; 0 is any."`
}
