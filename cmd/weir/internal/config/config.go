package config

// Config is the whole file.
type Config struct {
	Listeners    []Listener             `yaml:"listeners" live:"no" help:"Where clients connect. Defaults to one on :8080."`
	Upstreams    map[string]Upstream    `yaml:"upstreams" required:"yes" help:"The servers behind the proxy, by name."`
	Routes       []Route                `yaml:"routes" help:"Which requests go to which upstream and compartment. The most specific match wins, in any order. By default all requests go to the only upstream."`
	Compartments map[string]Compartment `yaml:"compartments" help:"The limits, by name. A route without a compartment has the one named after its upstream."`
	Max          int                    `yaml:"max" live:"cap" help:"Cap on the requests that run in all compartments together; 0 is no cap."`
	Fleet        *Fleet                 `yaml:"fleet,omitempty" live:"no" help:"A cap that several proxies share, by the program weir-fleet."`
	Exempt       Exempt                 `yaml:"exempt" help:"The cap of the routes that no law limits."`
	Streams      Streams                `yaml:"streams" help:"Caps on long responses: streams, WebSockets, event streams."`
	Buffers      Buffers                `yaml:"buffers" help:"How much memory and disk slow clients may take."`
	Shutdown     Shutdown               `yaml:"shutdown" help:"How the proxy stops on SIGTERM."`
	State        string                 `yaml:"state" form:"file" live:"no" help:"A file for the learned limits, from which the proxy starts. By default the proxy does not save them."`
	Admin        Admin                  `yaml:"admin" help:"Where operators see the state and change settings."`
	Probes       Probes                 `yaml:"probes" help:"Where a platform checks that the proxy lives and is ready. Without an address, at the admin address."`
	Log          Log                    `yaml:"log" help:"The log on the standard error."`
	Trace        Trace                  `yaml:"trace" help:"Where spans are sent."`
}

// Exempt caps the requests that no law limits.
type Exempt struct {
	Max int `yaml:"max" default:"10" min:"1" help:"How many exempt requests may run at once, of all exempt routes together."`
}

// Streams caps responses and conversations whose length depends on the client. Their duration
// says nothing about the upstream, so no law sees it.
type Streams struct {
	Max        int      `yaml:"max" default:"1000" min:"1" help:"Cap on responses that are too large for the buffers, and on conversations such as streaming calls of gRPC."`
	Uploads    float64  `yaml:"uploads" default:"0.25" min:"0.01" max:"1" help:"The part of a compartment's limit for requests whose bodies are too long for the buffers; at least one slot."`
	WebSockets int      `yaml:"websockets" default:"1000" min:"1" help:"Cap on upgraded connections."`
	Events     int      `yaml:"events" default:"1000" min:"1" help:"Cap on streams of server-sent events."`
	After      Duration `yaml:"after" default:"1s" help:"The time after which a response that has not ended becomes a stream."`
}

// Buffers bounds the data kept for clients that send or read slowly.
type Buffers struct {
	Request   Bytes  `yaml:"request" default:"64KiB" help:"How much of a request's body the proxy reads into memory before the request takes a slot."`
	File      Bytes  `yaml:"file" default:"16MiB" help:"How much more of the body it reads into a temporary file; 0 is no file. A longer body is an upload."`
	Store     Bytes  `yaml:"store" default:"0" help:"The size of all temporary files together; one client may have a quarter. 0 is the lesser of 1GiB and half of the free space, and in a file system in memory at most buffers.memory."`
	Response  Bytes  `yaml:"response" default:"64KiB" help:"How far the proxy reads a response ahead of its client. A response that is further ahead is a stream."`
	Memory    Bytes  `yaml:"memory" default:"64MiB" help:"The size of all buffers in memory together, half of it for responses alone. If there is no room, a body goes to a file, and a response becomes a stream."`
	Directory string `yaml:"directory" form:"directory" help:"The directory of temporary files. Defaults to the system's."`
}

// Shutdown has the times that the proxy takes to stop.
type Shutdown struct {
	Wait  Duration `yaml:"wait" default:"0s" help:"How long the proxy accepts requests after readiness fails, for balancers to notice."`
	Grace Duration `yaml:"grace" default:"30s" help:"How long running requests then have to end."`
}
