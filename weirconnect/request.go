package weirconnect

import (
	"context"
	"net/http"

	"connectrpc.com/connect"
	"github.com/weir-go/weir"
	"github.com/weir-go/weir/weirhttp"
)

// A request has a header of its own. The caller's header must not change: net/http may still read
// it after a cancelled call has returned, and the caller may send its request once more.
type request struct {
	connect.AnyRequest
	header http.Header
}

func (r *request) Header() http.Header { return r.header }

// withHeader returns a copy of the request with another value of a header.
func withHeader(req connect.AnyRequest, name, value string) connect.AnyRequest {
	header := req.Header().Clone()
	header.Set(name, value)
	return &request{req, header}
}

// withPriority returns a request with the priority of ctx, unless that is Normal.
func withPriority(ctx context.Context, req connect.AnyRequest) connect.AnyRequest {
	if p := weir.PriorityFrom(ctx); p != weir.PriorityNormal {
		return withHeader(req, weirhttp.PriorityHeader, p.String())
	}
	return req
}
