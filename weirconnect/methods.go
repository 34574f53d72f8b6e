package weirconnect

import (
	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/internal/rpc"
)

// One returns a function for [LimitServer] and [LimitClient] that names the same admitter, such as
// a [*weir.Limiter], for every method. It panics if the admitter is nil, because a nil admitter
// would limit nothing.
func One(admitter weir.Admitter) func(fullMethod string) weir.Admitter { return rpc.One(admitter) }

// ByMethod returns a function for [LimitServer] and [LimitClient] that gives each method its own
// compartment in the set. The key is the procedure, such as "/pkg.Service/Method". It panics if the
// set is nil.
func ByMethod(set *bulkhead.Set) func(fullMethod string) weir.Admitter { return rpc.ByMethod(set) }

// Exempt returns admitterFor without the methods that are named, either in full or by their
// service, such as "grpc.health.v1.Health". It panics if admitterFor is nil.
func Exempt(admitterFor func(fullMethod string) weir.Admitter, names ...string) func(fullMethod string) weir.Admitter {
	return rpc.Exempt(admitterFor, names...)
}
