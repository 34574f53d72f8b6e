// Package tracelog reads requests from logs: CSV, JSON and access logs. A [Reader] detects the
// format, a table cuts the log into rows and columns, and a source takes a value from a row.
package tracelog
