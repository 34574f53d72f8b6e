// Package rules holds the rules of the repository as tests, so that no reviewer has to
// remember them. It contains no code that a program could import.
//
//   - A package imports only packages below it, and no permission is unused. The root module
//     requires nothing, the others do not require one another, all of them are in all.work, and
//     the modules in go.work download little (imports_test.go).
//   - A comment has at most 100 columns; no test sleeps on the wall clock (code_test.go).
//   - Every name that a document shows as code, or a comment as a link, exists
//     (identifiers_test.go). Every command in a document or a comment matches something
//     (commands_test.go). Package internal/documents runs the commands and compiles the code, and
//     internal/site follows the links.
//   - Comments and documents name their subjects (dialect_test.go).
//   - A type of internal/admit has at most 60 methods, one of pool at most 35 (types_test.go).
//   - Code that the simulator drives rounds alike on every machine (code_test.go). The linter's
//     settings keep clocks and inexact functions out of it.
//   - The API changes only deliberately: testdata/api has the
//     exported names (api_test.go).
//
// Each rule is a function from a file tree to a list of complaints. The tests apply it
// twice: to this repository, which must give no complaint, and to a small tree that breaks
// the rule, which must.
//
// The package reads files itself instead of calling the go command, because then a cached test
// result is discarded as soon as any file changes. Only the results of the compiler need the
// command.
package rules
