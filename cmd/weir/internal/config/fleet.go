package config

import (
	"cmp"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/weir-go/weir/cmd/weir/internal/paths"
	"github.com/weir-go/weir/fleet"
)

// Fleet shares a cap with other proxies.
type Fleet struct {
	Name        string    `yaml:"name" required:"yes" form:"fleet" help:"The name of the fleet, the same in all its proxies: 1 to 63 letters, digits, - and _."`
	Store       string    `yaml:"store" required:"yes" help:"The store of the fleet: nats://host:4222, tls://host:4222, or several separated by commas; or postgres://user@host/database. Put passwords and tokens into credentials."`
	Credentials string    `yaml:"credentials" help:"File with the password of the user in store, or with the token or the credentials (.creds) of NATS."`
	TLS         ClientTLS `yaml:"tls" help:"For NATS, as upstreams.NAME.tls. For PostgreSQL, store has sslmode, sslrootcert, sslcert and sslkey."`
	Replicas    int       `yaml:"replicas" default:"1" min:"1" max:"5" help:"On how many NATS servers a new bucket is kept. With 3 it survives the loss of one."`

	Cap      int      `yaml:"cap" required:"yes" min:"1" help:"Cap on the requests that run in all compartments of all proxies together. If the proxies differ, the lowest counts."`
	Weight   float64  `yaml:"weight" default:"1" min:"0.001" max:"1000" help:"The weight of this proxy when all together want more than the cap."`
	Fallback string   `yaml:"fallback" enum:"keep,refuse,local" default:"keep" help:"What happens without the store for longer than ttl. keep: the smaller of the share and an equal part of the cap. refuse: no requests. local: the local limits alone, which may exceed the cap."`
	Refresh  Duration `yaml:"refresh" default:"1s" min:"50ms" max:"1m" help:"How often a proxy writes to the store. A share moves within two to five refreshes."`
	TTL      Duration `yaml:"ttl,omitempty" min:"250ms" max:"10m" help:"How long a share lasts without the store, at least 5 refreshes. Defaults to 10."`
	Grace    Duration `yaml:"grace,omitempty" min:"1ms" max:"1h" help:"How long the longest request may run: the share of a lost proxy is kept for that much longer. Defaults to the longest timeout of a route."`
}

// Join returns the settings of the proxy's [fleet.Member], without its store and actuator.
func (f Fleet) Join() fleet.Config {
	fallbacks := map[string]fleet.Fallback{"keep": fleet.Keep, "refuse": fleet.Refuse, "local": fleet.Local}
	return fleet.Config{
		Cap: f.Cap, Weight: f.Weight, Fallback: fallbacks[f.Fallback],
		Refresh: time.Duration(f.Refresh), TTL: time.Duration(f.TTL), Grace: time.Duration(f.Grace),
	}
}

// completeFleet sets the settings that follow from the rest of the configuration. The set of
// compartments needs a cap of its own, which the fleet's share moves.
func (c *Config) completeFleet() {
	f := c.Fleet
	if f == nil {
		return
	}
	c.Max = cmp.Or(c.Max, f.Cap)
	f.TTL = cmp.Or(f.TTL, 10*f.Refresh)
	f.Grace = cmp.Or(f.Grace, c.longest())
}

// longest returns the longest timeout of the routes, or 0 if a route that is not exempt has no
// timeout.
func (c *Config) longest() (most Duration) {
	for _, r := range c.Routes {
		if r.Timeout == 0 && !r.Exempt {
			return 0
		}
		most = max(most, r.Timeout)
	}
	return most
}

var (
	storeForm = regexp.MustCompile(`^((nats|tls)://[^\s/,]+(,(nats|tls)://[^\s/,]+)*|postgres(ql)?://[^\s/]+/\S+)$`)
	secret    = regexp.MustCompile(`://[^/@]*:[^/@]*@|[?&]password=`)
)

// isStore refuses a URL that the client of PostgreSQL cannot parse: its error may show a password.
func isStore(text string) bool {
	_, err := url.Parse(text)
	return storeForm.MatchString(text) && (err == nil || !strings.HasPrefix(text, "postgres"))
}

func (c *checker) fleet() {
	f := c.Fleet
	if f == nil {
		return
	}
	if c.Max != f.Cap {
		c.isnt("max", c.Max, "none beside fleet, whose cap is "+show(f.Cap))
	}
	switch {
	case secret.MatchString(f.Store): // which the error must not show
		c.refuse("fleet.store", "has a password: want it in a file that fleet.credentials names")
	case f.Store != "" && !isStore(f.Store):
		c.isnt("fleet.store", f.Store, "nats://host:4222 or postgres://user@host/database")
	}
	if f.Credentials != "" {
		if _, err := os.ReadFile(f.Credentials); err != nil {
			c.refuse("fleet.credentials", "is %s: %v: want a file", quoted(f.Credentials), paths.Cause(err))
		}
	}
	if f.TLS != (ClientTLS{}) && strings.HasPrefix(f.Store, "postgres") {
		c.refuse("fleet.tls", "is set for PostgreSQL: want sslmode, sslrootcert, sslcert and sslkey in fleet.store")
	}
	c.keyPair("fleet.tls", f.TLS.Certificate, f.TLS.Key)
	c.authorities("fleet.tls.ca", f.TLS.CA)
	if f.TTL < 5*f.Refresh {
		c.isnt("fleet.ttl", f.TTL, "at least 5 refreshes, which are "+(5*f.Refresh).String())
	}
	switch {
	case f.Grace == 0:
		c.refuse("fleet.grace", "is missing, and a route has no timeout: want the time of the longest request")
	case f.Grace > Duration(time.Hour):
		c.isnt("fleet.grace", f.Grace, "at most 1h: the default is the longest timeout of a route")
	}
}
