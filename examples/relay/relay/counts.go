package relay

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/memory"
	"github.com/weir-go/weir/metrics"
	"github.com/weir-go/weir/throttle"
	"github.com/weir-go/weir/weirprom"
)

// A stage of protection, in the order in which a message passes the stages.
type stage string

const (
	accepting   stage = "socket"
	admitting   stage = "admission"
	sizing      stage = "size"
	pacing      stage = "rate" // read later, not refused
	parsing     stage = "parsing"
	allowing    stage = "permission"
	verifying   stage = "verification"
	writing     stage = "write"
	subscribing stage = "subscription"
	counting    stage = "count"
	keeping     stage = "memory" // of a subscription, or of an answer
	querying    stage = "query"
	delivering  stage = "delivery" // slow and dead clients, which were dropped
)

var stages = []stage{accepting, admitting, sizing, pacing, parsing, allowing, verifying, writing, subscribing, counting, keeping, querying, delivering}

// counts holds the relay's own metrics. Its throttle, limiter and monitor have others.
type counts struct {
	registry    *prometheus.Registry
	refusals    *prometheus.CounterVec
	outcomes    *prometheus.CounterVec
	sockets     prometheus.Gauge
	connections prometheus.Gauge
}

func newCounts(s *Server) *counts {
	c := &counts{
		registry:    prometheus.NewRegistry(),
		refusals:    prometheus.NewCounterVec(prometheus.CounterOpts{Name: "relay_refused_total", Help: "What a stage of protection refused, dropped, or, of the rate, delayed."}, []string{"stage"}),
		outcomes:    prometheus.NewCounterVec(prometheus.CounterOpts{Name: "relay_events_total", Help: "Events that were handed to the store, by what became of them."}, []string{"outcome"}),
		sockets:     prometheus.NewGauge(prometheus.GaugeOpts{Name: "relay_sockets", Help: "Sockets of clients, those that have not sent a request yet included."}),
		connections: prometheus.NewGauge(prometheus.GaugeOpts{Name: "relay_connections", Help: "Connections."}),
	}
	for _, st := range stages {
		c.refusals.WithLabelValues(string(st))
	}
	sources := metrics.Sources{
		Limiters:  []*weir.Limiter{s.verifier},
		Throttles: []*throttle.Throttle{s.throttle},
		Governors: map[string]*memory.Governor{"relay": s.governor},
	}
	if s.monitor != nil {
		sources.Monitors = map[string]*load.Monitor{"store": s.monitor}
	}
	subscriptions := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "relay_subscriptions", Help: "Subscriptions of all connections."},
		func() float64 { return float64(s.registry.len()) })
	c.registry.MustRegister(c.refusals, c.outcomes, c.sockets, c.connections, subscriptions, weirprom.New(sources))
	return c
}

func (c *counts) refused(at stage) { c.refusals.WithLabelValues(string(at)).Inc() }
