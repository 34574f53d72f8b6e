// Package pools holds Weir's pool against those that others wrote: the rate of empty tasks, and
// four workloads in virtual time against every fixed size. It is a module outside the
// workspace, so that who works on Weir need not download them. README.md has the
// commands and what they gave.
package pools
