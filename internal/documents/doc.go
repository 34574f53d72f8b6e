// Package documents reads what the documents of the repository show as code: blocks of Go,
// configuration and commands. Its tests hold them to the code as it is.
//
//   - Every block of Go compiles (snippets_test.go).
//   - Every configuration of the proxy is valid, and JSON is JSON (config_test.go).
//   - Every command runs, or is in a list with the reason why it does not (commands_test.go).
//
// The package is in the root module, though its tests look at all modules: the go command discards
// a cached result when a file changes that the test has read, but only if the file is in the module
// of the test.
package documents
