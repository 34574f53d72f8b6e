package relay_test

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/nbd-wtf/go-nostr"

	"github.com/weir-go/weir/examples/relay/protocol"
	"github.com/weir-go/weir/examples/relay/relay"
	"github.com/weir-go/weir/examples/relay/store"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/load"
)

// fake is a store in memory. It calls the hooks of a test before and after each write, and
// before each slice of a query.
type fake struct {
	beforeSave func(*nostr.Event) error
	beforeNext func(nostr.Filter) error

	mu     sync.Mutex
	events map[string]*nostr.Event
}

func (s *fake) Save(ctx context.Context, e *nostr.Event) (store.Outcome, error) {
	if s.beforeSave != nil {
		if err := s.beforeSave(e); err != nil {
			return 0, err
		}
	}
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.events[e.ID] != nil {
		return store.Duplicate, nil
	}
	if s.events == nil {
		s.events = map[string]*nostr.Event{}
	}
	s.events[e.ID] = e
	return store.Saved, nil
}

func (s *fake) len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.events)
}

func (s *fake) Query(f nostr.Filter) relay.Cursor {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := slices.SortedFunc(maps.Values(s.events), func(a, b *nostr.Event) int { return cmp.Compare(b.CreatedAt, a.CreatedAt) })
	return &fakeCursor{store: s, filter: f, rest: all, left: cmp.Or(f.Limit, -1)}
}

type fakeCursor struct {
	store  *fake
	filter nostr.Filter
	rest   []*nostr.Event
	left   int
}

func (c *fakeCursor) Next(keys int, emit func(event []byte) bool) (more bool, err error) {
	if c.store.beforeNext != nil {
		if err := c.store.beforeNext(c.filter); err != nil {
			return true, err
		}
	}
	for ; keys > 0 && len(c.rest) > 0 && c.left != 0; keys-- {
		e := c.rest[0]
		c.rest = c.rest[1:]
		if !protocol.Matches(&c.filter, e) {
			continue
		}
		c.left--
		if !emit(protocol.EventJSON(e)) {
			break
		}
	}
	return len(c.rest) > 0 && c.left != 0, nil
}

func (c *fakeCursor) Count(keys int) (n int, more bool, err error) {
	more, err = c.Next(keys, func([]byte) bool { n++; return true })
	return n, more, err
}

// served is a running server.
type served struct {
	*relay.Server
	t    *testing.T
	url  string // public, http
	in   string // internal, http
	stop func() // ends Run and waits for it; also called at the end of the test
}

func build(t *testing.T, c relay.Config) (*relay.Server, func()) {
	t.Helper()
	if c.Store == nil {
		c.Store = &fake{}
	}
	if c.Sources == nil {
		c.Sources = []load.Source{relay.Idle{}}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	s := must.Have(relay.New(c))(t)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := s.Run(ctx); err != nil {
			t.Error(err)
		}
	}()
	return s, func() { cancel(); <-done }
}

// serve runs a server on real sockets.
func serve(t *testing.T, c relay.Config) *served {
	t.Helper()
	s, stop := build(t, c)
	public, internal := httptest.NewServer(s.Handler()), httptest.NewServer(s.Internal())
	t.Cleanup(public.Close)
	t.Cleanup(internal.Close)
	t.Cleanup(stop)
	return &served{Server: s, t: t, url: public.URL, in: internal.URL, stop: stop}
}

// client is a connection that sends and receives text.
type client struct {
	*websocket.Conn
	t *testing.T
}

func (s *served) client() *client { return connect(s.t, s.url, nil) }

func connect(t *testing.T, url string, through *http.Client) *client {
	t.Helper()
	socket, _, err := websocket.Dial(t.Context(), strings.Replace(url, "http", "ws", 1), &websocket.DialOptions{HTTPClient: through})
	if err != nil {
		t.Fatal(err)
	}
	socket.SetReadLimit(1 << 20)
	t.Cleanup(func() { socket.CloseNow() })
	return &client{Conn: socket, t: t}
}

func (c *client) send(text string) {
	c.t.Helper()
	must.Do(c.t, c.Write(c.t.Context(), websocket.MessageText, []byte(text)))
}

// receive returns the next message.
func (c *client) receive() (message []any) {
	c.t.Helper()
	_, text, err := c.Read(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	if err := json.Unmarshal(text, &message); err != nil {
		c.t.Fatalf("%v in %s", err, text)
	}
	return message
}

// want receives a message that begins with these elements; a string that ends in * matches a
// prefix.
func (c *client) want(begins ...any) []any {
	c.t.Helper()
	got := c.receive()
	for i, want := range begins {
		if i >= len(got) || !like(got[i], want) {
			c.t.Fatalf("received %.300v, want it to begin with %v", got, begins)
		}
	}
	return got
}

func like(got, want any) bool {
	text, isText := got.(string)
	pattern, _ := want.(string)
	if begin, ok := strings.CutSuffix(pattern, "*"); ok {
		return isText && strings.HasPrefix(text, begin)
	}
	return got == want
}

// publish sends an event and expects an OK.
func (c *client) publish(e *nostr.Event) {
	c.t.Helper()
	c.send(eventMessage(e))
	c.want("OK", e.ID, true)
}

func eventMessage(e *nostr.Event) string { return `["EVENT",` + e.String() + `]` }

// author signs events.
type author string

var someone = author(nostr.GeneratePrivateKey())

func (a author) key() string {
	key, err := nostr.GetPublicKey(string(a))
	if err != nil {
		panic(err)
	}
	return key
}

// event returns a signed event of now.
func (a author) event(kind int, content string, tags ...nostr.Tag) *nostr.Event {
	e := &nostr.Event{CreatedAt: nostr.Timestamp(time.Now().Unix()), Kind: kind, Content: content, Tags: tags}
	a.sign(e)
	return e
}

func (a author) sign(e *nostr.Event) {
	if err := e.Sign(string(a)); err != nil {
		panic(err)
	}
}

// metric returns the value of a series from /metrics.
func metric(t *testing.T, s *relay.Server, series string) string {
	t.Helper()
	w := httptest.NewRecorder()
	s.Internal().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for line := range strings.Lines(w.Body.String()) {
		if value, ok := strings.CutPrefix(line, series+" "); ok {
			return strings.TrimSpace(value)
		}
	}
	t.Fatalf("no %s in %s", series, w.Body)
	return ""
}

func (s *served) metric(series string) string {
	s.t.Helper()
	return metric(s.t, s.Server, series)
}
