package relay

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"runtime"
	"strconv"
	"time"

	"github.com/weir-go/weir/bulk"
	"github.com/weir-go/weir/examples/relay/nostr"
	"github.com/weir-go/weir/examples/relay/store"
	"github.com/weir-go/weir/internal/settings"
	"github.com/weir-go/weir/load"
)

// ErrConfig matches every error about a setting.
var ErrConfig = settings.ErrConfigOf("relay")

// A Store keeps events. All methods are safe for concurrent use.
type Store interface {
	// Save keeps an event, and returns after it is acknowledged.
	Save(ctx context.Context, e *nostr.Event) (store.Outcome, error)
	// Query returns a cursor over the events that match a filter, newest first.
	Query(f nostr.Filter) Cursor
}

// A Cursor reads the answer to a query in slices. It is not safe for concurrent use.
type Cursor interface {
	// Next reads about the given number of keys in one short transaction and calls emit
	// for their events, until emit returns false. The next call continues from there.
	// Next reports whether there may be more.
	Next(keys int, emit func(*nostr.Event) bool) (more bool, err error)
	// Count is Next for callers that only need the number of events.
	Count(keys int) (n int, more bool, err error)
}

// Config configures a [Server]. 0 always means the default; a value out of range is an error that
// names the field.
type Config struct {
	// Store keeps the events. Required.
	Store Store

	// Sources report how close the store is to its limit. Writes follow a load.Drainer
	// among them. Without sources, which is the default, writes and queries are paced by
	// their own latencies.
	Sources []load.Source

	// Memory is the memory target of the process, in bytes, as in memory.Config. Mapped
	// lists the files that the store maps.
	Memory uint64
	Mapped []string

	// Dir is the directory of the journals and rejects of imports over HTTP. If it is
	// empty, there are no such imports.
	Dir string
	// Sync makes acknowledged events durable: see bulk.Config. Optional.
	Sync func() error
	// Marks are the marks of imports in the store: see bulk.Config. Optional.
	Marks bulk.Marks

	// Name, Description, Contact and PubKey name the operator in the information
	// document. PubKey is 64 hexadecimal digits, or "".
	Name, Description, Contact, PubKey string

	// URL is the relay's own, such as "wss://relay.example.com", which clients sign when
	// they authenticate. Defaults to the host of the request, which suits a relay
	// without a proxy.
	URL string
	// AuthToWrite accepts events only from authenticated clients. It needs a URL: the
	// client chooses the host of its request, and another relay could forward events
	// that its clients signed for it.
	AuthToWrite bool

	// Limits bound messages.
	Limits nostr.Limits

	// Connections is the maximum number of connections, up to 1,000,000, and at most as
	// many as fit in a quarter of Memory at 48 KiB each. Defaults to 4000, or to that
	// maximum if it is lower. ConnectionsPerAddress is the maximum for one address, by
	// default 64, and ConnectionRate the maximum of new connections per second, by
	// default 200. The internal listener neither counts nor bounds connections.
	Connections, ConnectionsPerAddress int
	ConnectionRate                     float64
	// Sockets is the maximum number of sockets, including sockets without a request yet:
	// see [Server.Serve]. It is at least Connections, and up to 1,000,000. Defaults to a
	// quarter more than Connections, so that sockets that fetch the information
	// document, or stay silent, do not displace connections.
	Sockets int
	// Address returns the address that a connection counts for. Defaults to the address
	// of the peer. Behind a proxy, return the address that the proxy vouches for.
	Address func(*http.Request) string

	// MessageRate is the number of messages read per second from a connection, by
	// default 100, after a burst of twice as many. A message counts once more for each 4
	// KiB. Messages of the internal listener are not bounded.
	MessageRate float64

	// Publishing is the number of events of a connection processed at once, by default
	// 8, and Queries the number of its queries, by default 4. Subscriptions is the
	// number that it may have open, including subscriptions that wait for a query, and
	// the number of COUNTs that may wait as well, by default 32. All up to 10,000.
	Publishing, Queries, Subscriptions int

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

	// Outbox is the number of bytes that may wait for a connection, at least 4096.
	// Defaults to 256 KiB. A live event that does not fit ends the connection.
	Outbox int

	// Ping is the interval of pings to a connection. Defaults to 30 s. Stall is the
	// longest duration of a write, a message or the answer to a ping. Defaults to 10 s.
	Ping, Stall time.Duration

	// Logger logs messages for the operator. Defaults to slog.Default.
	Logger *slog.Logger
}

const (
	defaultConnections    = 4000
	defaultPerAddress     = 64
	defaultConnectionRate = 200
	defaultMessageRate    = 100
	defaultPublishing     = 8
	defaultQueries        = 4
	defaultSubscriptions  = 32
	defaultWrites         = 8 // keeps the tail short for a tenth of the throughput: docs/results/storms.md
	defaultSlice          = 256
	defaultOutbox         = 256 << 10
	leastOutbox           = 4 << 10
	defaultPing           = 30 * time.Second
	defaultStall          = 10 * time.Second

	mostConnections = 1_000_000
	mostPerConn     = 10_000
	mostSlice       = 100_000
	mostOutbox      = 1 << 30
	mostRate        = 1e6
)

// complete checks the settings and fills in the defaults.
func (c Config) complete() (Config, error) {
	if c.Store == nil {
		return c, invalid("Store", "nil", "a store, such as that of Badger")
	}
	if c.Processors < 0 || c.Processors > mostPerConn {
		return c, invalid("Processors", c.Processors, fmt.Sprintf("0 (the default, GOMAXPROCS) to %d", mostPerConn))
	}
	c.Processors = cmp.Or(c.Processors, runtime.GOMAXPROCS(0))
	for _, f := range []struct {
		name      string
		value     *int
		otherwise int
		most      int
	}{
		{"Connections", &c.Connections, defaultConnections, mostConnections},
		{"ConnectionsPerAddress", &c.ConnectionsPerAddress, defaultPerAddress, mostConnections},
		{"Publishing", &c.Publishing, defaultPublishing, mostPerConn},
		{"Queries", &c.Queries, defaultQueries, mostPerConn},
		{"Subscriptions", &c.Subscriptions, defaultSubscriptions, mostPerConn},
		{"Reads", &c.Reads, c.busy(), mostPerConn},
		{"Writes", &c.Writes, defaultWrites, mostPerConn},
		{"Sockets", &c.Sockets, 0, mostConnections},
		{"Slice", &c.Slice, defaultSlice, mostSlice},
		{"Outbox", &c.Outbox, defaultOutbox, mostOutbox},
	} {
		if *f.value < 0 || *f.value > f.most {
			return c, invalid(f.name, *f.value, fmt.Sprintf("0 (the default, %d) to %d", f.otherwise, f.most))
		}
		*f.value = cmp.Or(*f.value, f.otherwise)
	}
	if c.Outbox < leastOutbox {
		return c, invalid("Outbox", c.Outbox, fmt.Sprintf("0 (the default) or at least %d bytes", leastOutbox))
	}
	for _, f := range []struct {
		name      string
		value     *float64
		otherwise float64
	}{
		{"ConnectionRate", &c.ConnectionRate, defaultConnectionRate},
		{"MessageRate", &c.MessageRate, defaultMessageRate},
	} {
		if *f.value < 0 || *f.value > mostRate || math.IsNaN(*f.value) {
			return c, invalid(f.name, *f.value, fmt.Sprintf("0 (the default, %v) to %v per second", f.otherwise, mostRate))
		}
		*f.value = cmp.Or(*f.value, f.otherwise)
	}
	for _, f := range []struct {
		name      string
		value     *time.Duration
		otherwise time.Duration
	}{
		{"Ping", &c.Ping, defaultPing},
		{"Stall", &c.Stall, defaultStall},
	} {
		if *f.value < 0 {
			return c, invalid(f.name, *f.value, fmt.Sprintf("0 (the default, %v) or more", f.otherwise))
		}
		*f.value = cmp.Or(*f.value, f.otherwise)
	}
	if u, err := url.Parse(c.URL); c.URL != "" && (err != nil || u.Scheme != "ws" && u.Scheme != "wss" || u.Host == "") {
		return c, invalid("URL", c.URL, `"" (the host of the request) or one with ws:// or wss://`)
	}
	if !hexKey.MatchString(c.PubKey) {
		return c, invalid("PubKey", strconv.Quote(c.PubKey), `"" (none) or 64 hexadecimal digits; not npub1...`)
	}
	if c.AuthToWrite && c.URL == "" {
		return c, invalid("AuthToWrite", true, "a URL, which clients sign")
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return c, nil
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

	perSocket = 4 // Connections divided by it is the number of further sockets
)

// bounded bounds connections by a memory target, and sockets by connections. asked is the
// number of connections that the user set, or 0.
func (c Config) bounded(asked int, target uint64) (Config, error) {
	room := int(min(target/connectionShare/perConnection, mostConnections))
	if asked > room {
		return c, invalid("Connections", asked, fmt.Sprintf("0 (the default) to %d, for which a quarter of Memory, %d MiB, has room", room, target>>20))
	}
	c.Connections = min(c.Connections, room)
	if c.Sockets == 0 {
		c.Sockets = c.Connections + (c.Connections+perSocket-1)/perSocket
	}
	if c.Sockets < c.Connections {
		return c, invalid("Sockets", c.Sockets, fmt.Sprintf("0 (the default), or at least Connections, %d", c.Connections))
	}
	return c, nil
}

var hexKey = regexp.MustCompile(`^([0-9a-f]{64})?$`)

// busy returns the amount of CPU-bound work that runs at once: one processor stays free, so
// that short tasks do not wait. With twice as many reads as processors, ten floods raised
// the others' p99 to 65 ms on two processors; with one it was 18 ms (TestFloods).
func (c Config) busy() int { return max(c.Processors-1, 1) }

func invalid(field string, value any, want string) error {
	return settings.Invalid(ErrConfig, field, value, want)
}
