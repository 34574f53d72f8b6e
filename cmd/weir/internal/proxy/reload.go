package proxy

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/law"
)

// Reload reads the configuration again and applies it, whole or not at all. It resets the
// laws and shadow modes that operators set. An error, which is also logged, leaves everything
// unchanged.
func (p *Proxy) Reload() error {
	p.changing.Lock()
	defer p.changing.Unlock()
	err := p.reload()
	p.reloaded(err)
	return err
}

func (p *Proxy) reload() error {
	if p.read == nil {
		return errors.New("there is no configuration file: start with --config to reload one")
	}
	c, err := p.read()
	if err != nil {
		return err
	}
	old := p.table.Load()
	if err := config.Live(old.config, c); err != nil {
		return err
	}
	operators, err := p.operatorHandlers(c)
	if err != nil {
		return err
	}
	next, err := p.newTable(c, old)
	if err != nil {
		return err
	}
	if err := p.set.Update(p.limits(c, nil)); err != nil {
		next.drop()
		return err
	}
	if len(p.overrides) > 0 {
		p.log.Warn("what operators set is as configured again", "compartments", slices.Sorted(maps.Keys(p.overrides)))
		p.setOverrides(map[string]override{})
	}
	next.start()
	p.table.Store(next)
	if !reflect.DeepEqual(old.config.Admin, c.Admin) || old.config.Probes != c.Probes { // another page has no readings
		p.serveOperators(operators)
	}
	old.drop()
	p.apply(c)
	return nil
}

// apply makes changes that cannot fail, because they have been checked: an error means that a file
// has changed since the check.
func (p *Proxy) apply(c *config.Config) {
	if err := p.shared.Update(c); err != nil {
		p.log.Error("a cap was not changed", "error", err)
	}
	p.tracer.SetSample(c.Trace.Sample)
	settings := p.withinFiles(c.Listeners)
	for i, l := range p.listeners {
		if err := l.Update(settings[i]); err != nil {
			p.log.Error("a listener was not changed", "listener", settings[i].Address, "error", err)
		}
	}
}

func (p *Proxy) reloaded(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lastReload = err
	if err != nil {
		p.reloadsRefused++
		p.log.Error("configuration refused, the old one stays", "error", err)
		return
	}
	p.reloads++
	p.applied = time.Now()
	p.log.Info("configuration applied", "reloads", p.reloads)
}

// An override is an operator's setting for a compartment, which replaces the setting of the
// configuration.
type override struct {
	law    law.Law // nil for the configured law
	shadow *bool
}

// pin is the limit that the operator has fixed, or 0.
func (o override) pin() int {
	fixed, _ := o.law.(law.Fixed)
	return fixed.Limit
}

// limits returns the limits of the configuration with the operators' overrides.
func (p *Proxy) limits(c *config.Config, overrides map[string]override) bulkhead.Config {
	limits := c.Bulkhead()
	if c.Log.Decisions {
		limits.OnEvent = weir.Log(p.log)
	}
	for name, o := range overrides {
		compartment := limits.ByKey[name]
		if o.law != nil {
			compartment.Config.Law = o.law
		}
		if pin := o.pin(); pin > 0 {
			compartment.Config.Initial, compartment.Budget = pin, 0
		}
		if o.shadow != nil {
			compartment.Config.Shadow = *o.shadow
		}
		limits.ByKey[name] = compartment
	}
	return limits
}

// Law gives a compartment another law until the next reload; nil restores the configured law.
func (p *Proxy) Law(compartment string, l law.Law) error {
	return p.override(compartment, func(o *override) { o.law = l })
}

// Shadow turns the shadow mode of a compartment on or off until the next reload.
func (p *Proxy) Shadow(compartment string, on bool) error {
	return p.override(compartment, func(o *override) { o.shadow = &on })
}

func (p *Proxy) override(compartment string, change func(*override)) error {
	p.changing.Lock()
	defer p.changing.Unlock()
	c := p.table.Load().config
	if _, ok := c.Bulkhead().ByKey[compartment]; !ok {
		return fmt.Errorf("no such compartment: %q", compartment)
	}
	changed := maps.Clone(p.overrides)
	o := changed[compartment]
	change(&o)
	changed[compartment] = o
	limits := p.limits(c, changed)
	if err := p.set.Update(limits); err != nil {
		return err
	}
	p.setOverrides(changed)
	now := limits.ByKey[compartment].Config
	p.log.Warn("changed by an operator", "compartment", compartment, "law", fmt.Sprint(now.Law), "shadow", now.Shadow)
	return nil
}

func (p *Proxy) setOverrides(to map[string]override) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.overrides = to
}
