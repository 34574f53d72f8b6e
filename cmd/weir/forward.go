package main

import (
	"context"
	"errors"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"time"

	"github.com/weir-go/weir"
)

// forward passes requests on to one upstream. What the upstream fails to answer
// becomes a 502, or a 504 once the timeout has passed, so that the limiter sees
// the failure.
type forward struct {
	proxy   *httputil.ReverseProxy
	timeout time.Duration // 0 means none
	faults  *faults
}

// newForward keeps up to idle connections to the upstream open between requests.
func newForward(to *url.URL, timeout time.Duration, idle int, faults *faults) *forward {
	f := &forward{timeout: timeout, faults: faults}
	f.proxy = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.Host = r.In.Host
			r.SetXForwarded()
		},
		Transport:      newTransport(idle),
		ModifyResponse: keepUpgraded,
		ErrorHandler:   f.fail,
		ErrorLog:       log.New(faults, "", 0), // an upstream that dies within its answer
	}
	return f
}

func newTransport(idle int) *http.Transport {
	dialer := &net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}
	return &http.Transport{
		DialContext:           dialer.DialContext,
		TLSHandshakeTimeout:   dialTimeout,
		ExpectContinueTimeout: time.Second,
		MaxIdleConnsPerHost:   idle,
		IdleConnTimeout:       90 * time.Second,
		ForceAttemptHTTP2:     true,
		DisableCompression:    true, // the client decides what it understands
	}
}

// executionTimer is the key of the timer that ends a request.
type executionTimer struct{}

func (f *forward) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if f.timeout > 0 {
		ctx, cancel := context.WithCancelCause(r.Context())
		defer cancel(nil)
		timer := time.AfterFunc(f.timeout, func() { cancel(weir.ErrExecutionTimeout) })
		defer timer.Stop()
		r = r.WithContext(context.WithValue(ctx, executionTimer{}, timer))
	}
	f.proxy.ServeHTTP(w, r)
}

// keepUpgraded lifts the timeout from a connection that has become a WebSocket.
func keepUpgraded(answer *http.Response) error {
	if answer.StatusCode == http.StatusSwitchingProtocols {
		if timer, ok := answer.Request.Context().Value(executionTimer{}).(*time.Timer); ok {
			timer.Stop()
		}
	}
	return nil
}

// fail answers a request that the upstream did not.
func (f *forward) fail(w http.ResponseWriter, r *http.Request, err error) {
	status := http.StatusBadGateway
	switch cause := context.Cause(r.Context()); {
	case errors.Is(cause, weir.ErrExecutionTimeout):
		status = http.StatusGatewayTimeout
		f.faults.add(cause)
	case errors.As(err, new(clientError)):
		status = statusOf(err)
	case cause != nil: // the server gave the client up, perhaps over its body
		status = statusOf(bodyError(r.Context()))
	default:
		f.faults.add(err)
	}
	http.Error(w, http.StatusText(status), status)
}
