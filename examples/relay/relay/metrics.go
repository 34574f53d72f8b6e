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
	admitting   stage = "admission"
	sizing      stage = "size"
	pacing      stage = "rate" // read later, not refused
	parsing     stage = "parsing"
	dating      stage = "time"
	verifying   stage = "verification"
	writing     stage = "write"
	subscribing stage = "subscription"
	counting    stage = "count"
	keeping     stage = "memory" // of a subscription, or of an answer
	querying    stage = "query"
	delivering  stage = "delivery" // slow and dead clients, which were dropped
)

var stages = []stage{admitting, sizing, pacing, parsing, dating, verifying, writing, subscribing, counting, keeping, querying, delivering}

// counts holds the relay's own metrics. Its throttle, limiter and monitor have others.
type counts struct {
	all           *prometheus.Registry
	refusals      *prometheus.CounterVec
	outcomes      *prometheus.CounterVec
	connections   prometheus.Gauge
	subscriptions prometheus.Gauge
}

func newCounts(s *Server) *counts {
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	}
	counter := func(name, help, label string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{label})
	}
	c := &counts{
		all:           prometheus.NewRegistry(),
		refusals:      counter("relay_refused_total", "What a stage of protection refused, dropped, or, of the rate, delayed.", "stage"),
		outcomes:      counter("relay_events_total", "Events that were handed to the store, by what became of them.", "outcome"),
		connections:   gauge("relay_connections", "Connections."),
		subscriptions: gauge("relay_subscriptions", "Subscriptions of all connections."),
	}
	for _, st := range stages {
		c.refusals.WithLabelValues(string(st))
	}
	sources := metrics.Sources{
		Limiters:  []*weir.Limiter{s.verifier},
		Throttles: []*throttle.Throttle{s.throttle},
		Governors: map[string]*memory.Governor{"relay": s.governor},
		Monitors:  map[string]*load.Monitor{"store": s.monitor},
	}
	c.all.MustRegister(c.refusals, c.outcomes, c.connections, c.subscriptions, weirprom.New(sources))
	return c
}

func (c *counts) refused(at stage) { c.refusals.WithLabelValues(string(at)).Inc() }
