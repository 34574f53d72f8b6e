package weirhttp

import (
	"cmp"
	"net/http"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/edge"
	"github.com/weir-go/weir/internal/settings"
)

// Config has the settings of [New]. The zero Config works.
type Config struct {
	// OnRefused, if set, writes the response to a refused request, status included, in place of the
	// line of plain text. Answer 429 where the limit is a caller's own quota and not the server's
	// capacity. The header already has Retry-After, Cache-Control and [RefusedHeader].
	// It also answers where a response finds no slot of Streams: the header then has Cache-Control
	// only, because the work was done. OnRefused is called concurrently. The error matches
	// [weir.ErrRefused], or the cause of the request's context where a deadline of the server's own
	// passed in the queue.
	OnRefused func(w http.ResponseWriter, r *http.Request, err error)

	// Tenant, if set, names the tenant of a request for [weir.WithTenant]; "" names none. It is
	// called concurrently, and before admitterFor. Name only authenticated clients, for a client
	// that may choose its tenant takes the share of many.
	Tenant func(*http.Request) string

	// FirstByte measures a response at its first byte, or its first flush, instead of its end: the
	// latency until then, and the outcome by its status. The slot is still held to the end. A
	// response of gRPC is measured at its end, because its status comes last.
	FirstByte bool

	// Streams, if set, keeps clients that send or read slowly from holding the slots of the
	// admitter. It admits conversations, and responses that do not fit into ResponseBuffer, in
	// place of the admitter: see the package's documentation. Use a limiter with law.Fixed and
	// no queue. A nil *weir.Limiter counts as nil.
	Streams weir.Admitter

	// RequestBuffer is the longest body of a request, in bytes, that is read before the request
	// takes a slot. ResponseBuffer is the longest body of a response that is held back until the
	// slot is free. They need Streams. The number of requests at a time bounds their memory, and
	// not the limit: there are as many requests as connections, or as streams of connections in
	// HTTP/2. Both default to 64 KiB, and may be 1 byte to 1 GiB.
	RequestBuffer, ResponseBuffer int

	// Uploads is the part of an admitter's limit, but at least one slot, that all requests whose
	// bodies do not fit RequestBuffer hold together. It needs Streams. A method Snapshot gives the
	// limit and the name of an admitter, as for a [*weir.Limiter] and the admitters of ByRoute and
	// ByKey. Admitters of one name share a part, and all admitters without the method share one
	// slot. Defaults to 0.25; at most 1.
	Uploads float64
}

const (
	// defaultBuffer is nginx's default buffer for a response, in eight buffers of 8 KiB. A
	// client of HTTP/1 that never reads a response of this size takes 80 to 94 KB, and 20 to 27 KB
	// if nothing is held back (TestStalledReaderMemory).
	defaultBuffer = 64 << 10
	maxBuffer     = 1 << 30

	// defaultUploads is the default of weir proxy (decision 0046).
	defaultUploads = 0.25
)

// complete checks the settings and fills in the defaults.
func (c Config) complete() (Config, error) {
	if edge.IsExempt(c.Streams) {
		c.Streams = nil
	}
	for _, b := range []struct {
		field string
		bytes *int
	}{{"RequestBuffer", &c.RequestBuffer}, {"ResponseBuffer", &c.ResponseBuffer}} {
		if *b.bytes < 0 || *b.bytes > maxBuffer {
			return c, invalid(b.field, *b.bytes, "0 (the default, 65536) or 1 to 1073741824")
		}
		if *b.bytes > 0 && c.Streams == nil {
			return c, invalid(b.field, *b.bytes, "0, or an admitter in Streams for what does not fit")
		}
		*b.bytes = cmp.Or(*b.bytes, defaultBuffer)
	}
	if !(c.Uploads >= 0 && c.Uploads <= 1) { // nor NaN
		return c, invalid("Uploads", c.Uploads, "0 (the default, 0.25) to 1")
	}
	if c.Uploads > 0 && c.Streams == nil {
		return c, invalid("Uploads", c.Uploads, "0, or an admitter in Streams")
	}
	c.Uploads = cmp.Or(c.Uploads, defaultUploads)
	return c, nil
}

func invalid(setting string, value any, want string) error {
	return settings.Invalid(weir.ErrConfig, "weirhttp: "+setting, value, want)
}

func (c Config) withTenant(r *http.Request) *http.Request {
	if c.Tenant == nil {
		return r
	}
	if tenant := c.Tenant(r); tenant != "" {
		return r.WithContext(weir.WithTenant(r.Context(), tenant))
	}
	return r
}
