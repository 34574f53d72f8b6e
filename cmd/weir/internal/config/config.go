package config

// Config is the whole file.
type Config struct {
	Listeners    []Listener             `yaml:"listeners" live:"no" help:"Where clients connect. Defaults to one on :8080."`
	Upstreams    map[string]Upstream    `yaml:"upstreams" required:"yes" help:"The servers behind the proxy, by name."`
	Routes       []Route                `yaml:"routes" help:"Which requests go to which upstream and compartment. The most specific match wins, in any order. Defaults to all requests to the only upstream."`
	Compartments map[string]Compartment `yaml:"compartments" help:"The limits, by name. A route that names none has the compartment named after its upstream."`
	Max          int                    `yaml:"max" live:"cap" help:"Cap on the requests that run in all compartments together; 0 is none. A reload can change a cap but neither bring nor remove one."`
	Fleet        *Fleet                 `yaml:"fleet,omitempty" live:"no" help:"A cap that several proxies share, through weir-fleet, which is a program of its own."`
	Exempt       Exempt                 `yaml:"exempt" help:"The cap of the routes that no law limits."`
	Streams      Streams                `yaml:"streams" help:"Caps on long responses: streams, WebSockets, event streams."`
	Buffers      Buffers                `yaml:"buffers" help:"How much memory and disk slow clients may take."`
	Shutdown     Shutdown               `yaml:"shutdown" help:"How the proxy stops on SIGTERM."`
	State        string                 `yaml:"state" form:"file" live:"no" help:"A file in which the proxy keeps what the limits have learned, for its next start. Defaults to none."`
	Admin        Admin                  `yaml:"admin" help:"Where operators look and change things."`
	Probes       Probes                 `yaml:"probes" help:"Where a platform asks whether the proxy lives and is ready. Without an address the admin listener answers."`
	Log          Log                    `yaml:"log" help:"The log on the standard error."`
	Trace        Trace                  `yaml:"trace" help:"Where spans are sent."`
}

// Exempt caps the requests that no law limits.
type Exempt struct {
	Max int `yaml:"max" default:"10" min:"1" help:"How many exempt requests may run at once, on all exempt routes together."`
}

// Streams caps responses and conversations whose length depends on the client. Their duration
// says nothing about the upstream, so no law sees it.
type Streams struct {
	Max        int      `yaml:"max" default:"1000" min:"1" help:"Responses that do not fit into the buffers, and conversations, such as calls of gRPC that go on."`
	Uploads    float64  `yaml:"uploads" default:"0.25" min:"0.01" max:"1" help:"The part of a compartment's limit that requests may hold whose bodies are too long for the buffers; at least one slot."`
	WebSockets int      `yaml:"websockets" default:"1000" min:"1" help:"Connections that were upgraded."`
	Events     int      `yaml:"events" default:"1000" min:"1" help:"Streams of server-sent events."`
	After      Duration `yaml:"after" default:"1s" help:"When a response that has begun and not ended becomes a stream."`
}

// Buffers bounds the data kept for clients that send or read slowly.
type Buffers struct {
	Request   Bytes  `yaml:"request" default:"64KiB" help:"How much of a request's body is kept in memory before the request takes a slot."`
	File      Bytes  `yaml:"file" default:"16MiB" help:"How much more of it is kept in a temporary file; 0 is none. A longer body streams."`
	Store     Bytes  `yaml:"store" default:"0" help:"All that is kept in temporary files, a quarter of it for one client. 0 is the lesser of 1GiB and half of the free space, and in a file system in memory at most buffers.memory."`
	Response  Bytes  `yaml:"response" default:"64KiB" help:"How far a response may be ahead of its client while it holds its slot. A longer one is a stream."`
	Memory    Bytes  `yaml:"memory" default:"64MiB" help:"All that is kept in memory, half of it for responses alone. A body that finds no room goes to a file, a response becomes a stream."`
	Directory string `yaml:"directory" form:"directory" help:"Where temporary files are made. Defaults to the system's own."`
}

// Shutdown is how the proxy stops.
type Shutdown struct {
	Wait  Duration `yaml:"wait" default:"0s" help:"How long requests are still accepted once readiness fails, for balancers to notice."`
	Grace Duration `yaml:"grace" default:"30s" help:"How long running requests may take then."`
}
