package metrics

import (
	"maps"
	"slices"

	"github.com/weir-go/weir/capacity"
)

// ofCapacity are the instruments of a capacity.
type ofCapacity struct{ limit, inUse, withheld, owed, available, grants, waiting *Instrument }

func (c *ofCapacity) all() []*Instrument {
	return []*Instrument{c.limit, c.inUse, c.withheld, c.owed, c.available, c.grants, c.waiting}
}

var forCapacity = &ofCapacity{
	limit:     line(Gauge, "weir_capacity_limit", "weir.capacity.limit", "{unit}", "Amount of a resource, in the unit of its owner.", capacityOf, resource),
	inUse:     line(Gauge, "weir_capacity_in_use", "weir.capacity.used", "{unit}", "Amount that grants hold.", capacityOf, resource),
	withheld:  line(Gauge, "weir_capacity_withheld", "weir.capacity.withheld", "{unit}", "Amount that is held back.", capacityOf, resource),
	owed:      line(Gauge, "weir_capacity_owed", "weir.capacity.owed", "{unit}", "Amount in use beyond the limit, which comes off as work ends.", capacityOf, resource),
	available: line(Gauge, "weir_capacity_available", "weir.capacity.available", "{unit}", "Amount that is free.", capacityOf, resource),
	grants:    line(Gauge, "weir_capacity_grants", "weir.capacity.grants", "{grant}", "Grants that are out.", capacityOf),
	waiting:   line(Gauge, "weir_capacity_waiting", "weir.capacity.waiting", "{request}", "Requests that wait.", capacityOf),
}

func readCapacity(out output, c owned[*capacity.Capacity]) {
	s := c.source.Snapshot()
	taken := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(s.Resources)) {
		value := clean(name)
		if taken[value] {
			continue
		}
		taken[value] = true
		labels, r := join(c.labels, value), s.Resources[name]
		out.number(forCapacity.limit, float64(r.Limit), labels)
		out.number(forCapacity.inUse, float64(r.InUse), labels)
		out.number(forCapacity.withheld, float64(r.Withheld), labels)
		out.number(forCapacity.owed, float64(r.Owed), labels)
		out.number(forCapacity.available, float64(r.Available), labels)
	}
	out.number(forCapacity.grants, float64(s.Grants), c.labels)
	out.number(forCapacity.waiting, float64(s.Waiting), c.labels)
}
