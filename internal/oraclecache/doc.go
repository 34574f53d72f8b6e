// Package oraclecache stores the simulator's oracles in files, for the commands that score one law
// after another. Finding an oracle takes forty times as long as trying a law.
package oraclecache
