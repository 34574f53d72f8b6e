package dash

import (
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/label"
)

const (
	every        = 500 * time.Millisecond // between two readings
	linger       = time.Minute            // how long readings go on without a client, as while it reloads
	mostClients  = 256
	mostLimiters = 64
	mostBehind   = 16 // messages that a client has not read yet: eight seconds
)

var (
	errFull   = errors.New("too many pages look at this dashboard: want 256 or fewer")
	errClosed = errors.New("this dashboard is closed")
)

// A client is a page that looks, or another reader of the events.
type client struct {
	limiter  string      // whose details it gets
	messages chan []byte // closed when the client is cut off
}

// A hub reads the limiters while it has clients, keeps what it read, and sends it to them. A
// client never holds up the others.
type hub struct {
	read func() []weir.Snapshot

	mu      sync.Mutex // guards the fields below
	clients map[*client]struct{}
	series  map[string]*series // by label
	more    int                // limiters that are not shown
	running bool
	closed  bool
}

func newHub(read func() []weir.Snapshot) *hub {
	return &hub{read: read, clients: map[*client]struct{}{}, series: map[string]*series{}}
}

// join adds a client that looks at a limiter, or at the first one if the name is not known. Its
// first messages hold all that has been read so far.
func (h *hub) join(limiter string) (*client, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closed:
		return nil, errClosed
	case len(h.clients) >= mostClients:
		return nil, errFull
	}
	if !h.running {
		h.running = true
		h.sample(time.Now())
		go h.run()
	}
	names := h.names()
	if !slices.Contains(names, limiter) && len(names) > 0 {
		limiter = names[0]
	}
	c := &client{limiter, make(chan []byte, mostBehind)}
	c.messages <- h.overview(names)
	if s := h.series[limiter]; s != nil {
		c.messages <- s.past(limiter)
	}
	h.clients[c] = struct{}{}
	return c, nil
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

// run reads until there has been no client for a while.
func (h *hub) run() {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	lonely := time.Now()
	for now := range ticker.C {
		h.mu.Lock()
		if len(h.clients) > 0 {
			lonely = now
		} else if h.closed || now.Sub(lonely) >= linger {
			h.running = false
			h.series = map[string]*series{}
			h.mu.Unlock()
			return
		}
		h.sample(now)
		h.send()
		h.mu.Unlock()
	}
}

// sample reads the limiters. Those that are gone are forgotten.
func (h *hub) sample(now time.Time) {
	present := map[string]*weir.Snapshot{}
	for _, snap := range h.read() {
		if name := label.Clean(snap.Name); present[name] == nil {
			present[name] = &snap
		}
	}
	shown := slices.Sorted(maps.Keys(present))
	h.more = max(len(shown)-mostLimiters, 0)
	read := map[string]*series{}
	for _, name := range shown[:len(shown)-h.more] {
		if read[name] = h.series[name]; read[name] == nil {
			read[name] = &series{}
		}
		read[name].add(now, present[name])
	}
	h.series = read
}

// send sends the last reading to all clients, and cuts off those that are far behind.
func (h *hub) send() {
	overview, details := h.overview(h.names()), map[string][]byte{}
	for c := range h.clients {
		if len(c.messages) == cap(c.messages) {
			h.cut(c)
			continue
		}
		message := details[c.limiter]
		if message == nil {
			message = overview
			if s := h.series[c.limiter]; s != nil {
				message = slices.Concat(overview, s.latest(c.limiter))
			}
			details[c.limiter] = message
		}
		c.messages <- message
	}
}

func (h *hub) names() []string { return slices.Sorted(maps.Keys(h.series)) }
