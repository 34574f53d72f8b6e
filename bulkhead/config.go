package bulkhead

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/settings"
	"github.com/weir-go/weir/law"
)

// Config configures a [Set]. The zero Config works: every key has a limiter with
// the default settings.
type Config struct {
	// Default has the settings for keys that ByKey does not name. It cannot
	// reserve slots, because the number of keys is not known, nor name
	// its limiters, which are named after their keys.
	Default Compartment

	// ByKey has the settings of named keys. A setting that is left out has its usual default, not
	// the value in Default. The entry for [Overflow], if there is one, is for unknown keys that
	// find no room.
	ByKey map[string]Compartment

	// Max caps the work in flight of all keys together, by weight, up to 1,000,000,000. 0 means no
	// cap: the keys then have nothing in common, not even a lock. An update can change a cap, but
	// neither add nor remove a cap. A key in shadow mode also runs above the cap, and takes the
	// slots of the cap that it would take without shadow mode.
	Max int

	// MaxKeys is how many compartments there may be for keys that ByKey does not name. A
	// compartment takes 1 to 1.8 KB, the most with law.Setpoint. Defaults to 10,000; up to
	// 10,000,000.
	MaxKeys int

	// OnEvent, if set, is called with the events of every key whose Config has no OnEvent
	// of its own. [weir.Event].Limiter names the key. See [weir.Config].OnEvent.
	OnEvent func(weir.Event)
}

// A Compartment has the settings for a key.
type Compartment struct {
	// Config configures the key's limiter. Config.Name defaults to the key. Its Law
	// runs under locks of the set, and must not call the set or any limiter of
	// it: see law.Controller. With law.Fixed{} an update that changes
	// Config.Initial moves the limit to it.
	Config weir.Config

	// Reserved is how many slots of [Config].Max are kept for this key alone. From 0 to Config.Max;
	// the reserves of all keys add up to the cap at most. See the sizing in the documentation of
	// this package.
	Reserved int

	// Share weighs this key against other keys when they want more than the cap. Defaults to 1;
	// from 0.001 to 1000.
	Share float64

	// Budget is the p95 latency that the key may have. Work that timed out counts as slower. While
	// the p95 is above Budget, each window cuts the limit to 7/10, but not below Reserved or
	// Config.Min. While the p95 is at most 9/10 of Budget, each window gives back a tenth of the
	// former limit. Windows that are shorter than Config.Interval, or have fewer samples than
	// Config.MinSamples, count together as long as they agree. Config.Law rests until the key has
	// its former limit again. Events and the history show the changes with their reason. 0 means no
	// budget.
	Budget time.Duration

	// Breaker, if set, makes the breaker of a key, once, when the first work asks
	// its compartment for a slot; it may return nil. If it panics, so does the
	// call, and the next call tries again. An update keeps a key's breaker and its
	// state. It is called under no lock, and may use the Set, but must not ask for
	// a slot of the same compartment, which would wait for it. Set either this or
	// Config.Breaker; in Default, Config.Breaker is one breaker for all keys.
	Breaker func(key string) weir.Breaker
}

// Overflow is the key of the compartment for unknown keys beyond [Config].MaxKeys.
const Overflow = "(overflow)"

const (
	defaultMaxKeys = 10_000
	mostKeys       = 10_000_000
	mostSlots      = settings.MaxSlots
)

// complete checks the configuration and fills in the defaults.
func (c Config) complete() (Config, error) {
	if err := settings.DefaultUpTo(weir.ErrConfig, "bulkhead: MaxKeys", &c.MaxKeys, defaultMaxKeys, mostKeys); err != nil {
		return c, err
	}
	if c.Max < 0 || c.Max > mostSlots {
		return c, invalid("Max", c.Max, fmt.Sprintf("0 (no cap) or 1 to %d", mostSlots))
	}
	switch d := c.Default; {
	case d.Reserved != 0:
		return c, invalid("Default.Reserved", d.Reserved, "0: only keys of ByKey can reserve slots")
	case d.Config.Name != "":
		return c, invalid("Default.Config.Name", d.Config.Name, "none: limiters are named after their keys")
	}
	var err error
	if c.Default, err = c.Default.complete("Default"); err != nil {
		return c, err
	}
	reserved := 0
	byKey := make(map[string]Compartment, len(c.ByKey))
	for _, key := range slices.Sorted(maps.Keys(c.ByKey)) {
		if problem := problemOf(key); problem != "" {
			return c, fmt.Errorf("%w: bulkhead: ByKey: key %s", weir.ErrConfig, problem)
		}
		if byKey[key], err = c.ByKey[key].complete(fmt.Sprintf("ByKey[%q]", key)); err != nil {
			return c, err
		}
		if left := c.Max - reserved; byKey[key].Reserved > left {
			return c, invalid(fmt.Sprintf("ByKey[%q].Reserved", key), byKey[key].Reserved,
				fmt.Sprintf("at most %d, which is what the keys before it leave of Max", left))
		}
		reserved += byKey[key].Reserved
	}
	c.ByKey = byKey
	return c, nil
}

func (k Compartment) complete(field string) (Compartment, error) {
	name := k.Config.Name
	config, err := limiters.Complete(k.Config)
	if err == nil {
		_, err = admit.Controller(config.Law, law.Bounds{Min: config.Min, Max: config.Max, Initial: config.Initial})
	}
	switch {
	case err != nil:
		return k, fmt.Errorf("%w: bulkhead: %s.Config: %w", weir.ErrConfig, field, err)
	case k.Reserved < 0 || k.Reserved > config.Max:
		return k, invalid(field+".Reserved", k.Reserved, fmt.Sprintf("0 to Config.Max, which is %d", config.Max))
	case k.Share != 0 && !(k.Share >= 0.001 && k.Share <= 1000):
		return k, invalid(field+".Share", k.Share, "0 (the default, 1) or 0.001 to 1000")
	case k.Budget < 0:
		return k, invalid(field+".Budget", k.Budget, "0 (none) or more")
	case k.Breaker != nil && config.Breaker != nil:
		return k, invalid(field+".Breaker", "set beside Config.Breaker", "one of them")
	}
	k.Config, k.Share = config, cmp.Or(k.Share, 1)
	k.Config.Name = name
	return k, nil
}

// forKeys returns the settings of the keys for a complete configuration: it adds an entry for the
// overflow, and the settings that the set has for each limiter.
func (c Config) forKeys() Config {
	byKey := make(map[string]Compartment, len(c.ByKey)+1)
	c.Default = c.Default.forKey(c.OnEvent)
	byKey[Overflow] = c.Default
	for key, k := range c.ByKey {
		byKey[key] = k.forKey(c.OnEvent)
	}
	c.ByKey = byKey
	return c
}

func (k Compartment) forKey(onEvent func(weir.Event)) Compartment {
	if fixed, ok := k.Config.Law.(law.Fixed); ok {
		limit := cmp.Or(fixed.Limit, k.Config.Initial)
		k.Config.Law = law.Fixed{Limit: limit}
		if k.Budget > 0 { // heavier work has no room, whatever the budget took
			k.Config.Max = min(max(limit, k.Config.Min, k.Reserved), k.Config.Max)
			k.Config.Initial = min(k.Config.Initial, k.Config.Max)
		}
	}
	if k.Budget > 0 {
		k.Config.Law = budget{
			law: k.Config.Law, p95: k.Budget, floor: k.Reserved,
			interval: k.Config.Interval, minSamples: k.Config.MinSamples,
		}
	}
	if k.Config.OnEvent == nil {
		k.Config.OnEvent = onEvent
	}
	return k
}

func (k Compartment) settings(key string, breaker *lateBreaker) weir.Config {
	c := k.Config
	c.Name = cmp.Or(c.Name, key)
	if breaker != nil {
		c.Breaker = breaker
	}
	return c
}

func (k Compartment) newBreaker(key string) *lateBreaker {
	if k.Breaker == nil {
		return nil
	}
	return &lateBreaker{key: key, make: k.Breaker}
}

func (k Compartment) allocation() admit.Allocation {
	return admit.Allocation{Reserved: k.Reserved, Share: k.Share}
}

func invalid(field string, value any, want string) error {
	return settings.Invalid(weir.ErrConfig, "bulkhead: "+field, value, want)
}
