package weirhttp

import (
	"net/http"
	"strconv"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/headers"
	"github.com/weir-go/weir/internal/rpc"
)

// ResponseOutcome returns the outcome of a response for the limiter of a server, by its status, by
// the status of gRPC among its trailers or its header, and by its content: the end of a stream of
// server-sent events teaches nothing. Pass nil for header and trailer at the beginning of a
// response, if its latency is measured only until then. A handler that passes on the response of
// another server calls ResponseOutcome; [Limit] does so by itself.
func ResponseOutcome(status int, header, trailer http.Header) weir.Outcome {
	if code, ok := grpcCode(status, header, trailer); ok {
		return code.ServerOutcome()
	}
	return statusOutcome(status, header)
}

// statusOutcome returns the outcome of a completed response.
func statusOutcome(status int, header http.Header) weir.Outcome {
	if outcome := beginOutcome(status); outcome != weir.Success || !headers.IsEvents(header) {
		return outcome
	}
	return weir.Ignore
}

// beginOutcome returns the outcome of a response that begins with the status. The latency until
// then depends on the load, even for a stream.
func beginOutcome(status int) weir.Outcome {
	switch {
	case status == http.StatusGatewayTimeout:
		return weir.Timeout
	case status == http.StatusServiceUnavailable:
		return weir.Overloaded
	case status >= 500:
		return weir.Failure
	case status >= 400, status == http.StatusSwitchingProtocols:
		return weir.Ignore
	default:
		return weir.Success
	}
}

// grpcStatus is the trailer with the status of a call. A call that fails before its first message
// may have it among its headers.
const grpcStatus = "Grpc-Status"

// grpcCode returns the status of a call of gRPC. The header of a handler that has returned holds
// its trailers too, with a prefix if they were not announced.
func grpcCode(status int, header, trailer http.Header) (code rpc.Code, ok bool) {
	if status != http.StatusOK || !headers.IsGRPC(header) {
		return 0, false
	}
	for _, values := range [][]string{
		trailer[grpcStatus], header[grpcStatus], header[http.TrailerPrefix+grpcStatus],
	} {
		if len(values) > 0 {
			return parseCode(values[0]), true
		}
	}
	return 0, false
}

// parseCode reads a status. A text that is no code of gRPC counts as Unknown.
func parseCode(text string) rpc.Code {
	code, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return rpc.Unknown
	}
	return rpc.Code(code)
}
