// Package loadtest helps the tests of sources of package load: it polls them, watches them with a
// monitor, and closes their stores.
package loadtest
