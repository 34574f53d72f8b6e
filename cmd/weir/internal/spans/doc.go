// Package spans traces requests through the proxy with W3C Trace Context, and sends spans to
// a collector.
//
// A [Tracer] decides for each request which trace it belongs to and whether its span is sent:
//
//   - a trusted traceparent decides for its own trace;
//   - a stranger's trace is continued, but the share of trace.sample decides, or strangers could
//     flood the collector;
//   - a request without a valid traceparent begins a trace.
//
// The flags of the traceparent for the upstream carry the decision, so that the upstream need
// not decide again.
//
// # Sending
//
// Spans go to the collector as JSON of OTLP over HTTP. The encoder is the project's own,
// because the official exporter doubles the first build of the command; a test in
// internal/promcheck decodes the output with the official types. Spans wait in a queue of a
// fixed size. If it is full, a span is dropped and counted: no request ever waits for the
// collector. Spans that the collector does not take are counted, and not sent again.
package spans
