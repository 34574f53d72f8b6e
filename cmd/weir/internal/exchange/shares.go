package exchange

import (
	"math"
	"net/netip"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/quota"
)

// shares are slots that clients may hold for as long as they like: for the uploads of each
// compartment, or for the streams of each route. One client has at most half of the slots.
// Otherwise a client could take all slots by a few connections of HTTP/2.
type shares struct {
	name    string
	all     quota.Quota[string] // by compartment or route
	clients quota.Quota[holder]
}

// A holder is a client within a compartment or route.
type holder struct {
	of      string
	address netip.Addr
}

// take takes a slot for a client. Call give once when the slot is free again.
func (s *shares) take(of string, client netip.Addr, most int) (give func(), err error) {
	who, part := holder{of, quota.AddressOf(client)}, max(1, most/2)
	if !client.IsValid() { // all clients of a Unix socket
		part = most
	}
	if !s.clients.Take(who, 1, int64(part), math.MaxInt64) {
		return nil, s.refuse()
	}
	if !s.all.Take(of, 1, int64(most), math.MaxInt64) {
		s.clients.Give(who, 1)
		return nil, s.refuse()
	}
	return func() { s.all.Give(of, 1); s.clients.Give(who, 1) }, nil
}

func (s *shares) refuse() error {
	return &weir.RefusedError{Limiter: s.name, Reason: weir.ReasonTenantShare}
}
