package relay

import (
	"cmp"
	"fmt"
	"log/slog"
	"runtime"

	"github.com/weir-go/weir/examples/relay/protocol"
	"github.com/weir-go/weir/internal/settings"
	"github.com/weir-go/weir/load"
)

// ErrConfig matches every error about a setting.
var ErrConfig = settings.ErrConfigOf("relay")

// Config configures a [Server]. 0 always means the default; a value out of range is an error that
// names the field.
type Config struct {
	// Store keeps the events. Required.
	Store Store

	// Sources report how close the store is to its limit. One of them is a load.Drainer, whose
	// rate writes follow. Required.
	Sources []load.Source

	// Memory is the memory target of the process, in bytes, as in memory.Config. Mapped
	// lists the files that the store maps.
	Memory uint64
	Mapped []string

	// Connections is the maximum number of connections, up to 1,000,000, and at most as
	// many as fit in a quarter of Memory at 48 KiB each. Defaults to 4000, or to that
	// maximum if it is lower. ConnectionsPerAddress is the maximum for one address, by
	// default 64, and ConnectionRate the maximum of new connections per second, by
	// default 200. The internal listener neither counts nor bounds connections.
	Connections, ConnectionsPerAddress int
	ConnectionRate                     float64

	// MessageRate is the number of messages read per second from a connection, by
	// default 100, after a burst of twice as many. Pings and pongs count too. For each
	// message 4 KiB are read, but at least a fifth of the largest message per second.
	// The internal listener has no such bounds.
	MessageRate float64

	// Queries is the number of queries of a connection processed at once, by default 4.
	// Subscriptions is the number that it may have open, including subscriptions that
	// wait for a query, and the number of COUNTs that may wait as well, by default 32.
	// Both up to 10,000.
	Queries, Subscriptions int

	// Processors is the number of processors, up to 10,000. Defaults to GOMAXPROCS. A
	// program that sets GOMAXPROCS higher sets the real number here.
	Processors int

	// Reads is the total cost of queries that run at once, by default one less than
	// Processors, which suits a store that is mostly in memory. Writes is the number of
	// events written at once, by default 8: see throttle.Side.MaxInFlight.
	Reads, Writes int

	// Unthrottled disables the throttle of the store, for comparison.
	Unthrottled bool

	// Slice is the number of keys a query reads before it returns to the queue, up to
	// 100,000. Defaults to 256.
	Slice int

	// Logger logs messages for the operator. Defaults to slog.Default.
	Logger *slog.Logger
}

const (
	defaultConnections = 4000
	defaultWrites      = 8 // keeps the tail short for a tenth of the throughput: docs/results/storms.md

	mostConnections = 1_000_000
	mostPerConn     = 10_000
)

// complete checks the settings and fills in the defaults.
func (c Config) complete() (Config, error) {
	if c.Store == nil {
		return c, invalid("Store", "nil", "a store, such as that of Badger")
	}
	if err := within("Processors", &c.Processors, runtime.GOMAXPROCS(0), mostPerConn); err != nil {
		return c, err
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	err := cmp.Or(
		within("Connections", &c.Connections, defaultConnections, mostConnections),
		within("ConnectionsPerAddress", &c.ConnectionsPerAddress, 64, mostConnections),
		within("ConnectionRate", &c.ConnectionRate, 200, 1e6),
		within("MessageRate", &c.MessageRate, 100, 1e6),
		within("Queries", &c.Queries, 4, mostPerConn),
		within("Subscriptions", &c.Subscriptions, 32, mostPerConn),
		within("Reads", &c.Reads, c.busy(), mostPerConn),
		within("Writes", &c.Writes, defaultWrites, mostPerConn),
		within("Slice", &c.Slice, 256, 100_000),
	)
	return c, err
}

func within[N settings.Number](name string, value *N, otherwise, most N) error {
	return settings.DefaultUpTo(ErrConfig, name, value, otherwise, most)
}

const (
	// connectionShare is the divisor of the memory target that gives the connections'
	// own memory. The governor grants more. With that, a store of its size and an
	// import, the process stays below the target (TestConnectionsThatNeverRead).
	connectionShare = 4
	// perConnection is the memory of an idle connection: its goroutines and buffers, and
	// its own shares. TestConnectionsWeighWhatTheyTake measures the goroutines and
	// buffers.
	perConnection = 36<<10 + ownSubscriptions + ownOutbox + ownIncoming
)

// bounded bounds connections by a memory target. asked is the number of connections that the
// user set, or 0.
func (c Config) bounded(asked int, target uint64) (Config, error) {
	room := int(min(target/connectionShare/perConnection, mostConnections))
	if asked > room {
		return c, invalid("Connections", asked, fmt.Sprintf("0 (the default) to %d, for which a quarter of Memory, %d MiB, has room", room, target>>20))
	}
	c.Connections = min(c.Connections, room)
	return c, nil
}

// perMessageRead is the number of bytes that are read from a connection for each message of its
// rate.
const perMessageRead = 4 << 10

// byteRate returns the number of bytes read per second from a connection. The largest message
// arrives in half of the time that a client has for it, however low the rate of messages is.
func (c Config) byteRate() float64 {
	return max(perMessageRead*c.MessageRate, protocol.MaxMessage/(stall/2).Seconds())
}

// busy returns the amount of CPU-bound work that runs at once: one processor stays free, so
// that short tasks do not wait. With twice as many reads as processors, ten floods raised
// the others' p99 to 65 ms on two processors; with one it was 18 ms (TestFloods).
func (c Config) busy() int { return max(c.Processors-1, 1) }

func invalid(field string, value any, want string) error {
	return settings.Invalid(ErrConfig, field, value, want)
}
