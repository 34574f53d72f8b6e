package exchange

import (
	"math"
	"net/netip"
	"sync"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/quota"
	"github.com/weir-go/weir/law"
)

// uploads are the requests of a compartment whose bodies stream, because they were too long
// for the buffers or found no room there. Their clients determine their duration. So all
// uploads together hold at most a part of the limit, and one client half of that part.
type uploads struct {
	limiter *weir.Limiter
	clients quota.Quota[netip.Addr]
}

// Uploads wait for their part as other requests wait for a slot.
const (
	uploadsWait    = 100
	uploadsTimeout = time.Second
)

// allUploads are the uploads by compartment.
type allUploads struct {
	mu sync.Mutex
	of map[string]*uploads
}

func (a *allUploads) get(compartment string) (*uploads, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if u := a.of[compartment]; u != nil {
		return u, nil
	}
	lim, err := weir.New(weir.Config{
		Name: "uploads", Law: law.Fixed{}, Initial: 100_000, Queue: weir.Queue{Size: uploadsWait, Timeout: uploadsTimeout},
	})
	if err != nil {
		return nil, err
	}
	if a.of == nil {
		a.of = map[string]*uploads{}
	}
	a.of[compartment] = &uploads{limiter: lim}
	return a.of[compartment], nil
}

// admitUpload takes a slot for an upload, which holds it until its response begins. The gate
// learns nothing from it: the client determines its duration, and a slot that waits for a
// client is no load.
func (x *exchange) admitUpload() (err error) {
	gate := x.route.gate.Snapshot()
	var share func()
	if !gate.Shadow { // it refuses no request
		if share, err = x.takeUploadShare(max(1, int(x.uploads*float64(gate.Limit)))); err != nil {
			return err
		}
	}
	if err := x.slot.Hold(x.asked, x.route.gate, share); err != nil {
		return err
	}
	x.slot.Measure(weir.Ignore)
	x.shared.counts.streamed.Add(1)
	return nil
}

// takeUploadShare takes one of the slots that the uploads of a compartment may hold together.
func (x *exchange) takeUploadShare(part int) (share func(), err error) {
	u, err := x.shared.uploads.get(x.route.config.Compartment)
	if err != nil {
		return nil, err
	}
	who := quota.AddressOf(x.who.Address)
	if !u.clients.Take(who, 1, int64(max(1, part/2)), math.MaxInt64) {
		return nil, &weir.RefusedError{Limiter: "uploads", Reason: weir.ReasonTenantShare}
	}
	err = u.limiter.SetCap(part)
	var permit weir.Permit
	if err == nil {
		permit, err = u.limiter.Acquire(x.asked)
	}
	if err != nil {
		u.clients.Give(who, 1)
		return nil, err
	}
	return func() { permit.Release(); u.clients.Give(who, 1) }, nil
}
