// Package longtest keeps what takes long, or needs a database server, out of `go test work`.
// Only tests import it.
//
//	scripts/all go test ./sim
//
// runs these tests too, as .ci/run does.
package longtest
