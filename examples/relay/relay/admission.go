package relay

import (
	"math"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"golang.org/x/time/rate"

	"github.com/weir-go/weir/internal/quota"
)

// admission caps connections: in total, by address, and new ones per second. It ignores the load
// of the store.
type admission struct {
	most, byAddress int64
	open            quota.Quota[netip.Addr]
	rate            *rate.Limiter
}

func newAdmission(c Config) *admission {
	return &admission{most: int64(c.Connections), byAddress: int64(c.ConnectionsPerAddress), rate: limiterOf(c.ConnectionRate)}
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
func (a *admission) enter(address netip.Addr) *denial {
	if !a.open.Take(address, 1, a.byAddress, a.most) {
		if a.open.Used() >= a.most {
			return &denial{http.StatusServiceUnavailable, comeBack, "too many connections"}
		}
		return &denial{http.StatusTooManyRequests, comeBack, "too many connections from this address"}
	}
	if !a.rate.Allow() {
		a.leave(address)
		next := time.Duration(float64(time.Second) / float64(a.rate.Limit()))
		return &denial{http.StatusServiceUnavailable, next, "too many new connections"}
	}
	return nil
}

// leave counts a connection out.
func (a *admission) leave(address netip.Addr) { a.open.Give(address, 1) }

func (d *denial) answer(w http.ResponseWriter) {
	w.Header().Set("Retry-After", strconv.Itoa(wholeSeconds(d.after)))
	http.Error(w, d.text, d.status)
}

// wholeSeconds rounds up, to at least 1: 0 would ask a client to come back at once.
func wholeSeconds(d time.Duration) int {
	return max(int(math.Ceil(d.Seconds())), 1)
}

// addressOf returns the address that a peer counts for. Peers without one count together.
func addressOf(peer string) netip.Addr {
	endpoint, _ := netip.ParseAddrPort(peer)
	return quota.AddressOf(endpoint.Addr())
}
