// Package race says whether the race detector is on, which changes sizes and allocations and makes
// some tests too slow. Only tests import it.
package race
