// Package spans follows requests through the proxy as W3C Trace Context has it, and sends spans to
// a collector.
//
// A [Tracer] decides for each request which trace it belongs to and whether its span is sent:
//
//   - a trusted traceparent decides for its own trace;
//   - the trace of a stranger goes on, but the share of trace.sample decides, or strangers could
//     flood the collector;
//   - what has no valid traceparent begins a trace.
//
// The upstream is told the decision in the flags of its traceparent, so that it need not decide
// again.
//
// # Sending
//
// Spans go to the collector as JSON of OTLP over HTTP. The encoder is the project's own, because
// the official exporter doubles the first build of the command; a test in internal/promcheck
// decodes what it sends with the official types. Spans wait in a queue of a fixed size. A span that
// finds it full is dropped and counted: no request ever waits for the collector.
package spans
