package spans

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/weir-go/weir"
)

// A Span is a request through the proxy. The caller bounds its texts.
type Span struct {
	Context    Context
	Start, End time.Time

	Method, Path, Host, Proto string
	Client                    string // address
	Status                    int
	Record
}

// A Record holds notes about a request, by the layers that serve it. Only the goroutine of the
// request may write the record, until the handler returns.
type Record struct {
	Route       string             // its pattern, empty if none matched
	Compartment string             // its name
	Upstream    string             // the address that answered
	Waited      time.Duration      // in the queue
	Refused     *weir.RefusedError // which limiter refused it or its response, and why; nil for none
}

// OTLP's enumerations have these values.
const (
	kindServer  = 2
	statusError = 2
)

// Package weirotel has the same names of events and attributes.
const (
	eventRefused  = "weir.refused"
	eventQueued   = "weir.queued"
	attributeName = "weir.limiter.name"
	attributeWait = "weir.queue.wait"
)

// An object is a message of OTLP in JSON: identifiers in hexadecimal digits, 64-bit numbers as
// text.
type (
	object     map[string]any
	attributes []object
)

func (a *attributes) add(key, kind string, value any) {
	*a = append(*a, object{"key": key, "value": object{kind: value}})
}

// text adds an attribute unless it is empty. It replaces invalid UTF-8, which would fail the
// batch.
func (a *attributes) text(key, value string) {
	if value != "" {
		a.add(key, "stringValue", strings.ToValidUTF8(value, "\uFFFD"))
	}
}

func encode(service string, batch []Span) []byte {
	var of attributes
	of.text("service.name", service)
	all := make([]object, len(batch))
	for i := range batch {
		all[i] = batch[i].message()
	}
	body, err := json.Marshal(object{"resourceSpans": []object{{
		"resource":   object{"attributes": of},
		"scopeSpans": []object{{"scope": object{"name": "github.com/weir-go/weir/cmd/weir"}, "spans": all}},
	}}})
	if err != nil {
		panic("spans: " + err.Error()) // JSON can encode all the values above
	}
	return body
}

// methods are the methods allowed in span names. Clients could invent any number of other methods.
var methods = map[string]bool{
	http.MethodGet: true, http.MethodHead: true, http.MethodPost: true, http.MethodPut: true, http.MethodPatch: true,
	http.MethodDelete: true, http.MethodConnect: true, http.MethodOptions: true, http.MethodTrace: true,
}

// message returns a span with the names of OpenTelemetry's semantic conventions.
func (s *Span) message() object {
	var a attributes
	name := "HTTP"
	if methods[s.Method] {
		name = s.Method
		a.text("http.request.method", s.Method)
	} else {
		a.text("http.request.method", "_OTHER")
		a.text("http.request.method_original", s.Method)
	}
	a.text("url.path", s.Path)
	a.text("url.scheme", s.Proto)
	a.text("server.address", s.Host)
	a.text("client.address", s.Client)
	a.text("http.route", s.Route)
	a.text("weir.upstream.address", s.Upstream)
	a.text("weir.key", s.Compartment)
	if s.Status != 0 {
		a.add("http.response.status_code", "intValue", strconv.Itoa(s.Status))
	}
	m := object{
		"traceId": s.Context.Trace.String(), "spanId": s.Context.Span.String(), "kind": kindServer,
		"name":              strings.TrimSpace(name + " " + strings.ToValidUTF8(s.Route, "\uFFFD")),
		"startTimeUnixNano": nanosOf(s.Start), "endTimeUnixNano": nanosOf(s.End),
	}
	if s.Context.Parent != (SpanID{}) {
		m["parentSpanId"] = s.Context.Parent.String()
	}
	if s.Status == 0 || s.Status >= http.StatusInternalServerError {
		m["status"] = object{"code": statusError}
		a.text("error.type", errorType(s.Status))
	}
	m["attributes"] = a
	if decision, e := s.decision(); decision != "" {
		m["events"] = []object{{"timeUnixNano": nanosOf(s.Start.Add(s.Waited)), "name": decision, "attributes": e}}
	}
	return m
}

// errorType is the status of a failed request, or says that its connection was cut before a status.
func errorType(status int) string {
	if status == 0 {
		return "aborted"
	}
	return strconv.Itoa(status)
}

// decision returns the limiter's decision as an event, without a name if the request started at
// once.
func (s *Span) decision() (name string, e attributes) {
	switch {
	case s.Refused != nil:
		e.text(attributeName, s.Refused.Limiter)
		e.text("error.type", s.Refused.Reason.String())
		return eventRefused, e
	case s.Waited > 0:
		e.add(attributeWait, "doubleValue", s.Waited.Seconds())
		return eventQueued, e
	}
	return "", nil
}

func nanosOf(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }
