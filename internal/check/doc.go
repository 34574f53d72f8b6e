// Package check tests Weir with dependencies that the library does without:
// third-party tools. It is a module of its own, so that the library needs no
// module but itself, and it holds no code that a program could import.
//
// Property tests drive the exported names of the library and of its internal
// packages with random input. The program in the mutants directory breaks the
// code on purpose and checks that a named test notices.
package check
