// Package documents reads the code in the repository's documents: blocks of Go, configuration
// and commands. Its tests check them against the current code.
//
//   - Every block of Go compiles (snippets_test.go).
//   - Every configuration of the proxy is valid, and JSON is JSON (proxy_test.go).
//   - Every command runs, or is in a list with the reason why it does not (commands_test.go).
//
// The package is in the root module, although its tests look at all modules: the go command
// discards a cached result when a file changes that the test has read, but only if the file
// is in the test's module.
package documents
