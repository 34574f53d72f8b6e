package fleet

import (
	"cmp"
	"context"
	"net"
	"net/netip"
	"slices"
	"time"
)

// A Counter counts the processes of a fleet by the addresses that a name has in DNS, such as the
// name of a headless service of Kubernetes. Each process has one address, or one of IPv4 and one of
// IPv6. Pass the number to [Divide]. It is not safe for concurrent use.
//
// DNS is late: while processes start, each process counts fewer processes than there are, and
// together they may exceed the cap. A cap that must hold needs [Join].
type Counter struct {
	// Host is the name that is looked up in DNS.
	Host string

	// Keep is how long the largest number counts, for processes that DNS forgets for a moment.
	// Defaults to 5 minutes.
	Keep time.Duration

	// Resolver defaults to net.DefaultResolver.
	Resolver interface {
		LookupHost(ctx context.Context, host string) ([]string, error)
	}

	readings []reading // each is larger than the next
}

// A reading is a number of processes by DNS.
type reading struct {
	n     int
	until time.Time // the end of the time in which it counts
}

// Count asks DNS and returns the largest number within Keep. It is at least 1. With an error, which
// comes from DNS, it returns the largest number of the readings before.
func (c *Counter) Count(ctx context.Context) (int, error) {
	ctx = cmp.Or(ctx, context.Background())
	resolver := c.Resolver
	if resolver == nil {
		resolver = net.DefaultResolver
	}
	hosts, err := resolver.LookupHost(ctx, c.Host)
	if err == nil {
		n, now := processes(hosts), time.Now()
		c.readings = slices.DeleteFunc(c.readings, func(r reading) bool { return r.n <= n || now.After(r.until) })
		c.readings = append(c.readings, reading{n, now.Add(cmp.Or(c.Keep, 5*time.Minute))})
	}
	if len(c.readings) == 0 {
		return 1, err
	}
	return max(c.readings[0].n, 1), err
}

// processes returns the number of addresses of IPv4 or of IPv6, whichever is larger.
func processes(hosts []string) int {
	v6 := 0
	for _, host := range hosts {
		if ip, err := netip.ParseAddr(host); err == nil && !ip.Unmap().Is4() {
			v6++
		}
	}
	return max(v6, len(hosts)-v6)
}

// Divide returns the part of a cap for one of n processes that share it equally: the cap divided by
// n, rounded down. It is 0 if there are more processes than slots. n below 1 counts as 1.
func Divide(limit, n int) int { return max(limit, 0) / max(n, 1) }
