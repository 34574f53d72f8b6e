// Package pools compares Weir's pool with other pools: the rate of empty tasks, and four
// workloads in virtual time against every fixed size. It is a module outside the workspace,
// so that contributors to Weir need not download them. README.md has the commands and their
// results.
package pools
