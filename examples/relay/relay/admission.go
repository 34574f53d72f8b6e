package relay

import (
	"math"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// admission caps connections: in total, by address, and new ones per second. It ignores the load
// of the store.
type admission struct {
	most, mostByAddress int
	rate                *rate.Limiter

	mu        sync.Mutex
	open      int
	byAddress map[string]int
}

func newAdmission(most, byAddress int, perSecond float64) *admission {
	return &admission{most: most, mostByAddress: byAddress, rate: limiterOf(perSecond), byAddress: map[string]int{}}
}

// A denial explains why a connection is not admitted.
type denial struct {
	status int
	after  time.Duration
	text   string
}

// comeBack is the Retry-After of clients refused by number: it is unknown when a connection
// will end.
const comeBack = 10 * time.Second

// enter counts a connection in, or returns the reason why not. It checks the cheapest reason
// first.
func (a *admission) enter(address string) *denial {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.open >= a.most:
		return &denial{http.StatusServiceUnavailable, comeBack, "too many connections"}
	case a.byAddress[address] >= a.mostByAddress:
		return &denial{http.StatusTooManyRequests, comeBack, "too many connections from this address"}
	}
	if booking := a.rate.Reserve(); booking.Delay() > 0 {
		after := booking.Delay()
		booking.Cancel()
		return &denial{http.StatusServiceUnavailable, after, "too many new connections"}
	}
	a.open++
	a.byAddress[address]++
	return nil
}

// leave counts a connection out.
func (a *admission) leave(address string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.open--
	if a.byAddress[address]--; a.byAddress[address] == 0 {
		delete(a.byAddress, address)
	}
}

func (d *denial) answer(w http.ResponseWriter) {
	w.Header().Set("Retry-After", strconv.Itoa(wholeSeconds(d.after)))
	http.Error(w, d.text, d.status)
}

// wholeSeconds rounds up, to at least 1: 0 would ask a client to come back at once.
func wholeSeconds(d time.Duration) int {
	return max(int(math.Ceil(d.Seconds())), 1)
}

// addressOf returns the address that a peer counts for: for IPv6 the /64 network, which one
// customer has.
func addressOf(peer string) string {
	endpoint, err := netip.ParseAddrPort(peer)
	if err != nil {
		return peer
	}
	ip := endpoint.Addr().Unmap().WithZone("")
	if ip.Is4() {
		return ip.String()
	}
	return netip.PrefixFrom(ip, 64).Masked().String()
}
