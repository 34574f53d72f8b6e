package neo4jload

import (
	"cmp"
	"time"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"
	"github.com/neo4j/neo4j-go-driver/v5/neo4j/auth"
	"github.com/neo4j/neo4j-go-driver/v5/neo4j/config"

	"github.com/weir-go/weir/internal/settings"
)

// ErrConfig matches every error about a setting.
var ErrConfig = settings.ErrConfigOf("neo4jload")

// Config configures a [Source]. 0 always means the default; a value out of range is an
// error that names the field.
type Config struct {
	// URI is the server's address, such as neo4j://localhost:7687, and Auth has the credentials of
	// the source, as in [neo4j.NewDriverWithContext].
	URI  string
	Auth auth.TokenManager

	// Driver, if set, changes the settings of the source's own driver: TLS,
	// time-outs. Its user agent and its one connection are the source's.
	Driver func(*config.Config)

	// Running, Blocked and Connections are the numbers at which the server counts as loaded. They
	// default to 20 running transactions, which a server handles well, to 3 transactions that wait
	// for a lock, and to 400 connections, the server's own default for its Bolt threads.
	Running, Blocked, Connections int

	// Wait is the wait for locks, of one transaction, at which the server counts as
	// loaded. Defaults to 1 s.
	Wait time.Duration
}

// Defaults of [Config].
const (
	defaultRunning = 20
	// With 10, and so 11 writers at once on two nodes, a server wrote half as much as with 4 at
	// once (TestNeo4j of internal/dbtest/storm): each waiter costs it time.
	defaultBlocked     = 3
	defaultConnections = 400 // server.bolt.thread_pool_max_size
	defaultWait        = time.Second
)

// complete checks the settings and fills in the defaults.
func (c Config) complete() (Config, error) {
	if c.URI == "" {
		return c, settings.Invalid(ErrConfig, "URI", "empty", "one such as neo4j://localhost:7687")
	}
	if c.Auth == nil {
		c.Auth = neo4j.NoAuth()
	}
	err := cmp.Or(
		settings.Default(ErrConfig, "Running", &c.Running, defaultRunning),
		settings.Default(ErrConfig, "Blocked", &c.Blocked, defaultBlocked),
		settings.Default(ErrConfig, "Connections", &c.Connections, defaultConnections),
		settings.Default(ErrConfig, "Wait", &c.Wait, defaultWait),
	)
	return c, err
}
