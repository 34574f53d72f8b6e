// Package check tests Weir with third-party tools, which the library itself does not use. It
// is a separate module, so that the library requires no other module, and it contains no
// code that a program could import.
//
// Property tests drive the exported names of the library and of its internal packages with
// random input. The program in the mutants directory breaks the code on purpose and checks
// that a named test fails.
package check
