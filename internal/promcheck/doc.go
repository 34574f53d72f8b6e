// Package promcheck tests the dashboard and the alert rules of weirprom against the real
// Prometheus: its parsers, and its engine over series that a collector exports. It is a
// separate module, so that users of weirprom do not download Prometheus. It also tests the
// spans that weir proxy sends against the types of OTLP.
package promcheck
