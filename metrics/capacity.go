package metrics

import (
	"github.com/weir-go/weir/capacity"
	"github.com/weir-go/weir/internal/label"
)

var forResource = columns[capacity.ResourceSnapshot]{
	{line(Gauge, "weir_capacity_limit", "weir.capacity.limit", "{unit}", "Amount of a resource, in its own unit.", capacityOf, resource), func(r *capacity.ResourceSnapshot) float64 { return float64(r.Limit) }},
	{line(Gauge, "weir_capacity_in_use", "weir.capacity.used", "{unit}", "Amount that grants hold.", capacityOf, resource), func(r *capacity.ResourceSnapshot) float64 { return float64(r.InUse) }},
	{line(Gauge, "weir_capacity_withheld", "weir.capacity.withheld", "{unit}", "Amount that is withheld from grants.", capacityOf, resource), func(r *capacity.ResourceSnapshot) float64 { return float64(r.Withheld) }},
	{line(Gauge, "weir_capacity_owed", "weir.capacity.owed", "{unit}", "Amount in use beyond the limit.", capacityOf, resource), func(r *capacity.ResourceSnapshot) float64 { return float64(r.Owed) }},
	{line(Gauge, "weir_capacity_available", "weir.capacity.available", "{unit}", "Amount that is free.", capacityOf, resource), func(r *capacity.ResourceSnapshot) float64 { return float64(r.Available) }},
}

var forCapacity = columns[capacity.Snapshot]{
	{line(Gauge, "weir_capacity_grants", "weir.capacity.grants", "{grant}", "Grants that are out.", capacityOf), func(s *capacity.Snapshot) float64 { return float64(s.Grants) }},
	{line(Gauge, "weir_capacity_waiting", "weir.capacity.waiting", "{request}", "Requests that wait.", capacityOf), func(s *capacity.Snapshot) float64 { return float64(s.Waiting) }},
}

func readCapacity(out output, c *capacity.Capacity, labels []string) {
	s := c.Snapshot()
	for name, r := range s.Resources {
		forResource.read(out, &r, join(labels, label.Clean(name)))
	}
	forCapacity.read(out, &s, labels)
}
