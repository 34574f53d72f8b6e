package spans

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// A Span is a request through the proxy. The caller bounds its texts.
type Span struct {
	Context    Context
	Start, End time.Time

	Method, Path, Host, Proto string
	Client                    string // address
	Status                    int
	Route                     string // its pattern, empty if none matched

	Compartment string
	Upstream    string        // the address that answered
	Waited      time.Duration // in the queue
	Refused     string        // the reason, or empty
}

// The messages of OTLP in JSON: identifiers in hexadecimal digits, 64-bit numbers as text.
type (
	export struct {
		ResourceSpans []resourceSpans `json:"resourceSpans"`
	}
	resourceSpans struct {
		Resource   attributed   `json:"resource"`
		ScopeSpans []scopeSpans `json:"scopeSpans"`
	}
	attributed struct {
		Attributes attributes `json:"attributes"`
	}
	scopeSpans struct {
		Scope scope  `json:"scope"`
		Spans []span `json:"spans"`
	}
	scope struct {
		Name string `json:"name"`
	}
	span struct {
		TraceID    string     `json:"traceId"`
		SpanID     string     `json:"spanId"`
		Parent     string     `json:"parentSpanId,omitempty"`
		Name       string     `json:"name"`
		Kind       int        `json:"kind"`
		Start      nanos      `json:"startTimeUnixNano"`
		End        nanos      `json:"endTimeUnixNano"`
		Attributes attributes `json:"attributes"`
		Events     []event    `json:"events,omitempty"`
		Status     *status    `json:"status,omitempty"`
	}
	event struct {
		Time       nanos      `json:"timeUnixNano"`
		Name       string     `json:"name"`
		Attributes attributes `json:"attributes"`
	}
	status struct {
		Code int `json:"code"`
	}
	attribute struct {
		Key   string         `json:"key"`
		Value map[string]any `json:"value"`
	}
	attributes []attribute
	nanos      string
)

// Values of OTLP's enumerations.
const (
	kindServer  = 2
	statusError = 2
)

// The names of weirotel's events and attributes.
const (
	eventRefused  = "weir.refused"
	eventQueued   = "weir.queued"
	attributeName = "weir.limiter.name"
	attributeWait = "weir.queue.wait"
)

func nanosOf(t time.Time) nanos { return nanos(strconv.FormatInt(t.UnixNano(), 10)) }

// text adds an attribute unless it is empty. It replaces invalid UTF-8, which would fail the
// batch.
func (a *attributes) text(key, value string) {
	if value != "" {
		*a = append(*a, attribute{key, map[string]any{"stringValue": strings.ToValidUTF8(value, "\uFFFD")}})
	}
}

// encode returns a batch as JSON.
func encode(service string, batch []Span) []byte {
	var of attributes
	of.text("service.name", service)
	all := make([]span, len(batch))
	for i := range batch {
		all[i] = batch[i].message()
	}
	body, err := json.Marshal(export{[]resourceSpans{{
		Resource: attributed{of}, ScopeSpans: []scopeSpans{{scope{"github.com/weir-go/weir/cmd/weir"}, all}},
	}}})
	if err != nil {
		panic("spans: " + err.Error()) // JSON can encode all the types above
	}
	return body
}

// methods are the methods allowed in span names. Clients could invent any number of others.
var methods = map[string]bool{
	http.MethodGet: true, http.MethodHead: true, http.MethodPost: true, http.MethodPut: true, http.MethodPatch: true,
	http.MethodDelete: true, http.MethodConnect: true, http.MethodOptions: true, http.MethodTrace: true,
}

// message returns a span with the names of OpenTelemetry's semantic conventions.
func (s *Span) message() span {
	m := span{
		TraceID: s.Context.Trace.String(), SpanID: s.Context.Span.String(), Kind: kindServer,
		Start: nanosOf(s.Start), End: nanosOf(s.End), Name: "HTTP",
	}
	if s.Context.Parent != (SpanID{}) {
		m.Parent = s.Context.Parent.String()
	}
	a := &m.Attributes
	if methods[s.Method] {
		m.Name = s.Method
		a.text("http.request.method", s.Method)
	} else {
		a.text("http.request.method", "_OTHER")
		a.text("http.request.method_original", s.Method)
	}
	m.Name = strings.TrimSpace(m.Name + " " + strings.ToValidUTF8(s.Route, "\uFFFD"))
	a.text("url.path", s.Path)
	a.text("url.scheme", s.Proto)
	a.text("server.address", s.Host)
	a.text("client.address", s.Client)
	a.text("http.route", s.Route)
	a.text("weir.upstream.address", s.Upstream)
	a.text("weir.key", s.Compartment)
	if s.Status != 0 {
		*a = append(*a, attribute{"http.response.status_code", map[string]any{"intValue": strconv.Itoa(s.Status)}})
	}
	if s.Status == 0 || s.Status >= http.StatusInternalServerError {
		m.Status = &status{statusError}
		a.text("error.type", strconv.Itoa(s.Status))
	}
	m.Events = s.events()
	return m
}

// events returns the limiter's decisions as events.
func (s *Span) events() (all []event) {
	if s.Refused != "" {
		e := event{Time: nanosOf(s.Start.Add(s.Waited)), Name: eventRefused}
		e.Attributes.text(attributeName, s.Compartment)
		e.Attributes.text("error.type", s.Refused)
		return []event{e}
	}
	if s.Waited > 0 {
		return []event{{
			Time: nanosOf(s.Start.Add(s.Waited)), Name: eventQueued,
			Attributes: attributes{{attributeWait, map[string]any{"doubleValue": s.Waited.Seconds()}}},
		}}
	}
	return nil
}
