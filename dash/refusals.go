package dash

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/label"
	"github.com/weir-go/weir/internal/recording"
)

// Refusals keeps the reasons of the last 256 refusals, with the identifiers of the requests, for
// [Config].Refusals. The zero value is empty. It is safe for concurrent use.
type Refusals struct {
	mu   sync.Mutex
	kept [recording.MostRequests]recording.Request // a ring
	sum  uint64                                    // the count of all refusals
}

// Add keeps the request with an identifier and the tenant of its context, if err is a
// [*weir.RefusedError]. Texts are cut to 128 bytes. To answer refused
// requests with weirhttp:
//
//	OnRefused: func(w http.ResponseWriter, r *http.Request, err error) {
//		refusals.Add(r.Context(), r.Header.Get("X-Request-Id"), err)
//		weirhttp.RefuseResponse(w, r, err)
//	}
func (r *Refusals) Add(ctx context.Context, id string, err error) {
	no, ok := errors.AsType[*weir.RefusedError](err)
	if !ok {
		return
	}
	request := recording.Request{
		At: time.Now().UnixMilli(), ID: label.Clean(id), Limiter: label.Clean(no.Limiter),
		Reason: no.Reason.String(), Tenant: label.Clean(weir.TenantFrom(ctx)),
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kept[r.sum%uint64(len(r.kept))] = request
	r.sum++
}

// String returns the count of all refusals as text.
func (r *Refusals) String() string { return fmt.Sprintf("%d refusals", r.count()) }

func (r *Refusals) count() uint64 {
	if r == nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sum
}

// between returns the kept requests from one count to another, the oldest first.
func (r *Refusals) between(from, to uint64) (requests []recording.Request) {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	size := uint64(len(r.kept))
	for n := max(from, r.sum-min(r.sum, size)); n < to; n++ {
		requests = append(requests, r.kept[n%size])
	}
	return requests
}
