// Package promcheck holds the dashboard and the alert rules of weirprom against the real
// Prometheus: its parsers, and its engine over series that a collector exports. It is a module of
// its own, so that users of weirprom do not download Prometheus. It holds the spans that weir proxy
// sends against the types of OTLP, too.
package promcheck
