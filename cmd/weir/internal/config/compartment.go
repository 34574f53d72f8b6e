package config

// Compartment is a limit, and the queue before it. What is not set has the library's default.
type Compartment struct {
	Law        Law      `yaml:"law" help:"Control law that finds the limit, such as elastic, or band(target=100ms). Defaults to elastic."`
	Min        int      `yaml:"min" help:"Least limit. Defaults to 1."`
	Max        int      `yaml:"max" help:"Greatest limit. Defaults to 100000."`
	Initial    int      `yaml:"initial" help:"Limit to start from. Defaults to 20."`
	Interval   Duration `yaml:"interval" help:"How often the law decides. Defaults to 1s."`
	Window     Duration `yaml:"window" help:"How far back it looks. Defaults to 10s."`
	MinSamples int      `yaml:"min_samples" help:"Answers that a decision takes at least. Defaults to 20."`
	Queue      Queue    `yaml:"queue" help:"Where requests wait while the limit is reached. Without, they are refused at once."`

	Reserved int      `yaml:"reserved" help:"Slots of the cap that are kept for it alone."`
	Share    float64  `yaml:"share" help:"Its weight when all want more than the cap. Defaults to 1; from 0.001 to 1000."`
	Budget   Duration `yaml:"budget" help:"The p95 latency that it may take; while it is above, it loses slots."`
	Breaker  *Breaker `yaml:"breaker" help:"Refuses at once while the upstream fails."`
	Shadow   bool     `yaml:"shadow" help:"Admits everything, and counts what would have been refused."`
}

// Queue is where requests wait.
type Queue struct {
	Size    int      `yaml:"size" help:"Requests that may wait; 0 refuses them at once."`
	Timeout Duration `yaml:"timeout" help:"How long one may wait. Defaults to 1s."`
	Order   string   `yaml:"order" enum:"fifo,adaptive" default:"fifo" help:"Who is next: adaptive serves the newest first once the queue stands."`
	Tenants int      `yaml:"tenants" help:"How many tenants are told apart, so that each gets its share; 0 is none."`
}

// Breaker opens when too many requests fail.
type Breaker struct {
	Failures int      `yaml:"failures" default:"5" help:"Failures in a row that open it."`
	Open     Duration `yaml:"open" default:"10s" help:"How long it stays open before it tries again."`
	Probes   int      `yaml:"probes" default:"1" help:"Requests that it tries then."`
}
