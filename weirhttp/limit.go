package weirhttp

import (
	"context"
	"maps"
	"net/http"
	"slices"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/edge"
	"github.com/weir-go/weir/internal/headers"
	"github.com/weir-go/weir/internal/quota"
)

// Limit returns a handler that runs next within the limit of the admitter that
// admitterFor names for the request. A nil admitter exempts the request; so does a
// nil *weir.Limiter, so that a look-up in a map of limiters can be returned as
// it is. admitterFor is called concurrently, and before anything is admitted:
// it has to be fast.
//
// A request whose key a bulkhead does not take is answered with 400. Any other refused request is
// answered with 503, the reason as a line of plain text, and a Retry-After that is spread over one
// to two times the limiter's time to drain. [RefusedHeader] says that the request did not run. A
// request whose client left the queue gets an empty 499, which only the server's own logs will see.
// In HTTP/1 net/http notices that a client left only once the body of its request was read. So a
// POST stays in the queue, and then runs, unless [Config].Streams reads its body before. The
// response to a request that had to wait has the time of the wait in milliseconds, as in
// "Server-Timing: weir;dur=12.3".
//
// The slot is freed when next returns or panics, or at once when it hijacks the connection.
// [Config].Streams frees it earlier. The ResponseWriter that next receives implements
// [http.Flusher] and [http.Hijacker] as the outer writer does (of HTTP/1, HTTP/2, or a wrapper),
// and unwraps for [http.ResponseController].
//
// Limit panics if next or admitterFor is nil. [New] has more settings.
func Limit(next http.Handler, admitterFor func(*http.Request) weir.Admitter) http.Handler {
	return New(next, admitterFor, Config{})
}

// New is [Limit] with settings. It also panics if a setting is out of range, with an error that
// matches [weir.ErrConfig].
func New(next http.Handler, admitterFor func(*http.Request) weir.Admitter, cfg Config) http.Handler {
	if next == nil {
		panic(missing("next", "a handler"))
	}
	if admitterFor == nil {
		panic(missing("admitterFor", aFunction))
	}
	cfg, err := cfg.complete()
	if err != nil {
		panic(err)
	}
	return &handler{next: next, admitterFor: admitterFor, conf: cfg}
}

// aFunction names the allowed values of admitterFor.
const aFunction = "a function, such as One(limiter)"

// missing is the error about an argument that is nil. The functions of this package panic with it,
// because they are called where a program is put together.
func missing(argument, want string) error {
	return invalid(argument, "nil", want)
}

// One returns a function for [Limit] and [Transport] that names the same admitter for every
// request. It panics if the admitter is nil, because a nil admitter would limit nothing.
func One(admitter weir.Admitter) func(*http.Request) weir.Admitter {
	if edge.IsExempt(admitter) {
		panic(missing("One: admitter", "a limiter, or an admitter of your own; Exempt names the paths without one"))
	}
	return func(*http.Request) weir.Admitter { return admitter }
}

// Exempt returns admitterFor with the given paths exempt, such as the paths of
// health checks. A path matches r.URL.Path exactly: "/healthz" is neither
// "/healthz/" nor "/healthz/db". It panics if admitterFor is nil.
func Exempt(admitterFor func(*http.Request) weir.Admitter, paths ...string) func(*http.Request) weir.Admitter {
	if admitterFor == nil {
		panic(missing("Exempt: admitterFor", aFunction))
	}
	paths = slices.Clone(paths)
	return func(r *http.Request) weir.Admitter {
		if slices.Contains(paths, r.URL.Path) {
			return nil
		}
		return admitterFor(r)
	}
}

type handler struct {
	next        http.Handler
	admitterFor func(*http.Request) weir.Admitter
	conf        Config
	uploads     quota.Quota[string] // slots of uploads, by the name of their limiter
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	server := r
	defer func() { passBack(server, r) }()
	r = h.conf.withTenant(r)
	admitter := h.admitterFor(r)
	if edge.IsExempt(admitter) {
		h.next.ServeHTTP(w, r)
		return
	}
	res := &response{server: w, ResponseWriter: w, ctx: r.Context(), firstByte: h.conf.FirstByte}
	upload := false
	if h.conf.Streams != nil && !headers.IsConversation(r) {
		var stop context.CancelCauseFunc
		r, stop = h.hold(res, r)
		defer stop(nil)
		var err error
		if upload, err = h.readAhead(server, r); err != nil {
			w.WriteHeader(BodyStatus(r.Context(), err))
			return
		}
	}
	if err := h.admit(res, r, admitter, upload); err != nil {
		h.conf.refuse(w, r, err)
		return
	}
	// There is no recover here, so that the panic goes up as it is, with its stack. A Goexit is
	// covered too.
	returned := false
	defer func() { res.end(returned) }()
	if upload { // the law learns nothing from an upload
		res.slot.Measure(weir.Ignore)
	}
	headers.TellWait(w.Header(), res.slot.Waited())
	if res.held != nil {
		res.held.before = maps.Clone(w.Header())
	}
	h.next.ServeHTTP(res.writer(), r)
	returned = true
}

// passBack copies to the request of an outer layer the pattern that the inner request matched, and
// the form whose files the server has to remove.
func passBack(outer, inner *http.Request) {
	outer.Pattern, outer.MultipartForm = inner.Pattern, inner.MultipartForm
}
