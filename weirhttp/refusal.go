package weirhttp

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/edge"
)

// statusClientLeft is nginx's status for a client that closed its request.
const statusClientLeft = 499

// RefusedHeader is the header by which a response says that its request did not run, because
// [Limit] refused it. The value is the reason, such as "queue full". After a response with this
// header [RetryTransport] sends even a POST again. A handler that did part of the work must not
// pass on the header of its own downstream.
const RefusedHeader = "Weir-Refused"

// Refuse answers a request that an admitter did not admit, as [Limit] does. The error of Acquire
// gives the reason and the delay of a retry. Refuse is for handlers that ask an admitter
// themselves, and for refusals of [Transport] in a proxy.
func Refuse(w http.ResponseWriter, r *http.Request, err error) { unset.refuse(w, r, err) }

// RefuseResponse answers a request that ran, but gets no response because the streams had no slot
// for the response. Limit does so with [Config].Streams. RefuseResponse sets no Retry-After, but
// leaves one that is set, so that a [Config].OnRefused may call it.
func RefuseResponse(w http.ResponseWriter, r *http.Request, err error) { unset.answer(w, r, err) }

// unset is the configuration of Limit.
var unset Config

// refuse answers a request that was not admitted, so it did not run.
func (c *Config) refuse(w http.ResponseWriter, r *http.Request, err error) {
	w.Header().Set(RefusedHeader, reasonOf(err))
	if after, again := edge.RetryAfter(err); again {
		seconds := math.Ceil(after.Seconds()) // at least 1, because after is above 0
		w.Header().Set("Retry-After", strconv.FormatFloat(seconds, 'f', 0, 64))
	}
	c.answer(w, r, err)
}

// answer answers a request that gets no other response because of the error.
func (c *Config) answer(w http.ResponseWriter, r *http.Request, err error) {
	if clientLeft(r) {
		w.WriteHeader(statusClientLeft)
		return
	}
	status := http.StatusServiceUnavailable
	if refused, ok := errors.AsType[*weir.RefusedError](err); ok {
		status = edge.HTTPStatus(refused.Reason)
	}
	w.Header().Set("Cache-Control", "no-store") // in place of the value for the response
	if c.OnRefused != nil {
		c.OnRefused(w, r, err)
		return
	}
	http.Error(w, http.StatusText(status)+": "+reasonOf(err), status)
}

func reasonOf(err error) string {
	switch refused, ok := errors.AsType[*weir.RefusedError](err); {
	case ok:
		return refused.Reason.String()
	case errors.Is(err, weir.ErrRefused):
		return "refused"
	default:
		return "deadline exceeded"
	}
}

func clientLeft(r *http.Request) bool { return errors.Is(r.Context().Err(), context.Canceled) }
