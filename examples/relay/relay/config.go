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
	// Save keeps an event, and returns once it is acknowledged.
	Save(ctx context.Context, e *nostr.Event) (store.Outcome, error)
	// Query returns a cursor over the events that a filter matches, the newest first.
	Query(f nostr.Filter) Cursor
}

// A Cursor reads the answer to a query in slices. It is of one goroutine.
type Cursor interface {
	// Next reads about so many keys in one short transaction and calls emit for the events among
	// them, until emit returns false. It goes on from there when it is called again, and reports
	// whether there may be more.
	Next(keys int, emit func(*nostr.Event) bool) (more bool, err error)
	// Count is Next for those who want to know only how many events there are.
	Count(keys int) (n int, more bool, err error)
}

// Config configures a [Server]. 0 always means the default; a value out of range is an error that
// names the field.
type Config struct {
	// Store keeps the events. Required.
	Store Store

	// Sources tell how close the store is to its limit. Writes follow a load.Drainer among them.
	// Default to none: writes and queries are paced by their own latencies.
	Sources []load.Source

	// Memory is the target for the memory of the process, in bytes, as of memory.Config, and Mapped
	// are the files that the store maps.
	Memory uint64
	Mapped []string

	// Dir is the directory of the journals and rejects of imports over HTTP. Defaults to none:
	// there are no such imports.
	Dir string
	// Sync makes acknowledged events durable: see bulk.Config. Defaults to none.
	Sync func() error
	// Marks of imports are in the store: see bulk.Config. Default to none.
	Marks bulk.Marks

	// Name, Description, Contact and PubKey say in the information document whose relay it is.
	// PubKey is 64 hexadecimal digits, or "".
	Name, Description, Contact, PubKey string

	// URL is the relay's own, such as "wss://relay.example.com", which clients sign when they
	// authenticate. Defaults to the host of the request, which suits a relay that is reached
	// directly.
	URL string
	// AuthToWrite accepts events from clients only that have authenticated. It needs a URL: the
	// host of the request is what the client says, and another relay could pass on what its clients
	// signed for it.
	AuthToWrite bool

	// Limits bound messages.
	Limits nostr.Limits

	// Connections is how many there may be, up to 1,000,000, and to what a quarter of Memory has
	// room for at 48 KiB each. Defaults to 4000, or to that room if it is less.
	// ConnectionsPerAddress is how many of them one address may have, by default 64, and
	// ConnectionRate how many may come per second, by default 200. The internal listener counts and
	// bounds none.
	Connections, ConnectionsPerAddress int
	ConnectionRate                     float64
	// Sockets is how many there may be, those included that have not sent a request yet: see
	// [Server.Serve]. At least Connections, and up to 1,000,000. Defaults to a quarter more than
	// Connections, so that all connections have a place while others ask for the information
	// document, or say nothing.
	Sockets int
	// Address returns the address that a connection counts for. Defaults to that of the peer.
	// Behind a proxy, return the one that the proxy vouches for.
	Address func(*http.Request) string

	// MessageRate is how many messages of a connection are read per second, by default 100, after a
	// burst of twice as many. A message counts once more for each 4 KiB. Those of the internal
	// listener are not bounded.
	MessageRate float64

	// Publishing is how many events of a connection are in work at once, by default 8, and Queries
	// how many of its queries, by default 4. Subscriptions is how many it may have, those included
	// that wait for a query, and how many COUNTs may wait besides, by default 32. All up to 10,000.
	Publishing, Queries, Subscriptions int

	// Processors is how many there are, up to 10,000. Defaults to GOMAXPROCS. A program that sets
	// that to more says here how many it has.
	Processors int

	// Reads is how much cost of queries runs at once, by default one less than Processors, which
	// suits a store that is mostly in memory, and Writes how many events are written at once, by
	// default 8: see throttle.Side.MaxInFlight.
	Reads, Writes int

	// Unthrottled leaves the throttle of the store out, which shows its worth.
	Unthrottled bool

	// Slice is how many keys a query reads before it goes back into the queue, up to 100,000.
	// Defaults to 256.
	Slice int

	// Outbox is how many bytes may wait for a connection, 4096 or more. Defaults to 256 KiB. A live
	// event that finds no room ends the connection.
	Outbox int

	// Ping is how often a connection is asked whether it is alive. Defaults to 30 s. Stall is how
	// long a write, a message or the answer to a ping may take. Defaults to 10 s.
	Ping, Stall time.Duration

	// Logger gets messages for operators. Defaults to slog.Default.
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
	defaultWrites         = 8 // keeps the tail short for a tenth of the throughput: docs/storms.md
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
	// connectionShare is which part of the target for memory connections have for themselves,
	// besides what the governor lets them keep: with that, with a store of its size and with an
	// import they stay below the target (TestConnectionsThatNeverRead).
	connectionShare = 4
	// perConnection is the memory of a connection that keeps nothing: its goroutines and buffers,
	// and its own shares. TestConnectionsWeighWhatTheyTake measures the former.
	perConnection = 36<<10 + ownSubscriptions + ownOutbox + ownIncoming

	perSocket = 4 // Connections divided by it are sockets beside those of connections
)

// bounded bounds connections by a target for memory, and sockets by connections. The number of
// connections is that of the user, 0 for none.
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

// busy is how much work runs at once that needs nothing but a processor: all but one, on which what
// is short finds no queue. With twice as many reads as processors, ten floods made the others' p99
// 65 ms on two of them, with one 18 ms (TestFloods).
func (c Config) busy() int { return max(c.Processors-1, 1) }

func invalid(field string, value any, want string) error {
	return settings.Invalid(ErrConfig, field, value, want)
}
