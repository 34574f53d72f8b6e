package dash

import (
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/weir-go/weir/internal/recording"
)

const (
	every         = 500 * time.Millisecond // between two readings
	linger        = time.Minute            // how long readings go on without a client, as while it reloads
	mostClients   = 256
	mostRecorders = 4 // clients that get the details of all limiters
	mostLimiters  = 64
	mostBehind    = 16 // messages that a client has not read yet: eight seconds
)

var (
	errFull     = errors.New("too many pages look at this dashboard: want 256 or fewer")
	errRecorded = errors.New("four others record this dashboard: want one of them ended")
	errClosed   = errors.New("this dashboard is closed")
)

// A view says which details a client gets.
type view struct {
	limiter string
	all     bool // details of all limiters
	trusted bool // tenants and refused requests too
}

// A client is a page that looks, or another reader of the events.
type client struct {
	view
	messages chan []byte // closed when the client is cut off
	joined   bool        // has its first message
	placed   bool        // a limiter was there for its view
}

// A hub reads the limiters while it has clients, keeps the readings, and sends them. A slow client
// never holds up the other clients.
type hub struct {
	config   Config
	recorded *recording.Recording // shown instead of the limiters, if there is one

	mu      sync.Mutex // guards the fields below
	clients map[*client]struct{}
	series  map[string]*series // by label
	more    map[bool]int       // limiters that are not shown, to trusted viewers and to others
	others  []recording.Table
	refused uint64 // count of refused requests at the last reading
	before  uint64 // the same count at the reading before
	kept    int64  // the time of the last reading, in milliseconds of Unix time
	fault   string // how the last reading failed; empty if it did not
	running bool
	begun   bool      // has tried to read since it runs
	lonely  time.Time // when there was a client last
	closed  bool
}

func newHub(c Config) *hub {
	return &hub{config: c, clients: map[*client]struct{}{}, series: map[string]*series{}}
}

// join adds a client. Its first message has all readings so far, and waits for the first reading.
func (h *hub) join(v view) (*client, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closed:
		return nil, errClosed
	case len(h.clients) >= mostClients:
		return nil, errFull
	case v.all && h.recorders() >= mostRecorders:
		return nil, errRecorded
	}
	if h.recorded != nil {
		return h.replay(v), nil
	}
	c := h.add(v)
	if h.begun {
		h.welcome(c)
	}
	if !h.running {
		h.running = true
		go h.run()
	}
	return c, nil
}

func (h *hub) add(v view) *client {
	c := &client{view: v, messages: make(chan []byte, mostBehind)}
	h.clients[c] = struct{}{}
	return c
}

// welcome sends a client its first message, and a second one once there is a limiter. If the
// limiter of its view is not known, the client gets the first limiter.
func (h *hub) welcome(c *client) {
	names := h.names(c.view)
	c.placed = len(names) > 0
	if c.placed && !slices.Contains(names, c.limiter) {
		c.limiter = names[0]
	}
	from := uint64(0)
	if c.joined && !c.placed { // with a limiter the page begins anew
		from = h.before
	}
	c.joined = true
	c.messages <- h.message(c.view, (*series).past, from)
}

// recorders counts the clients that get the details of all limiters.
func (h *hub) recorders() (n int) {
	for c := range h.clients {
		if c.all {
			n++
		}
	}
	return n
}

func (h *hub) leave(c *client) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.clients, c)
}

func (h *hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for c := range h.clients {
		h.cut(c)
	}
}

// cut ends the stream of a client.
func (h *hub) cut(c *client) {
	delete(h.clients, c)
	close(c.messages)
}

// run reads until there has been no client for a while. It reads without the lock, because a
// function of the user may block. It takes the times from the clock, because the last tick of a
// ticker waits while the process is stopped.
func (h *hub) run() {
	for !h.ends(time.Now()) {
		r := h.attempt()
		h.mu.Lock()
		h.keep(time.Now(), r)
		h.send()
		h.mu.Unlock()
		time.Sleep(every)
	}
}

// ends reports whether there has been no client for a while. It then forgets the readings.
func (h *hub) ends(now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.clients) > 0 {
		h.lonely = now
		return false
	}
	if !h.closed && now.Sub(h.lonely) < linger {
		return false
	}
	h.running, h.begun = false, false
	h.series, h.refused, h.before = map[string]*series{}, 0, 0
	return true
}

// send sends the last reading to all clients, and cuts off clients far behind.
func (h *hub) send() {
	messages := map[view][]byte{}
	for c := range h.clients {
		if len(c.messages) == cap(c.messages) {
			h.cut(c)
			continue
		}
		if !c.placed {
			h.welcome(c)
			continue
		}
		if messages[c.view] == nil {
			messages[c.view] = h.news(c.view)
		}
		c.messages <- messages[c.view]
	}
}

// news returns the message after a reading. If the reading failed, it is only the overview, because
// all earlier readings have been sent.
func (h *hub) news(v view) []byte {
	if h.fault != "" {
		return h.overview(v)
	}
	return h.message(v, (*series).latest, h.before)
}

// message returns the overview with a part of the details that a view has, and the requests that
// were refused after the first count.
func (h *hub) message(v view, part func(s *series, name string) []byte, from uint64) []byte {
	message := h.overview(v)
	for _, name := range h.names(v) {
		if v.all || name == v.limiter {
			message = append(message, part(h.series[name], name)...)
		}
	}
	return append(message, v.requests(h.config.Refusals.between(from, h.refused))...)
}

// requests returns the event with refused requests, which only trusted viewers may see.
func (v view) requests(refused []recording.Request) []byte {
	if !v.trusted || len(refused) == 0 {
		return nil
	}
	return event("requests", refused)
}

// names returns the names of the limiters that a view may have.
func (h *hub) names(v view) (names []string) {
	for name, s := range h.series {
		if v.trusted || !s.tenant {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
