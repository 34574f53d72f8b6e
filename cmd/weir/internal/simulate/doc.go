// Package simulate implements "weir sim" between its flags and its tables: it reads
// scenarios, runs them on all processors, sums up scores and draws them.
package simulate
