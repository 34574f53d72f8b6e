// Package longtest keeps tests that take long, or need a database server, out of `go test
// work`. Only tests import it.
//
//	scripts/all go test ./sim
//
// also runs these tests, as .ci/run does.
package longtest
