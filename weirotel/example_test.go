package weirotel_test

import (
	"context"
	"fmt"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/metrics"
	"github.com/weir-go/weir/weirotel"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// show prints the first metric that a reader of the SDK gets. A program has a PeriodicReader with
// an exporter instead.
func show(p *weirotel.Producer) {
	reader := sdkmetric.NewManualReader(sdkmetric.WithProducer(p))
	sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	var all metricdata.ResourceMetrics
	err := reader.Collect(context.Background(), &all)
	fmt.Println(all.ScopeMetrics[0].Metrics[0].Name, err)
}

// A limiter.
func ExampleNew() {
	lim := weir.Must(weir.New(weir.Config{Name: "search", Histograms: true}))
	producer, err := weirotel.New(metrics.Sources{Limiters: []*weir.Limiter{lim}})
	if err != nil {
		panic(err)
	}
	show(producer)
	// Output: weir.limiter.limit <nil>
}

// Refusals and waits show on the span of the request.
func ExampleTraced() {
	lim := weir.Must(weir.New(weir.Config{Name: "search"}))
	admitter := weirotel.Traced(lim) // weirhttp.One(admitter), for an HTTP server
	lim.Close()

	recorder := tracetest.NewSpanRecorder()
	tracer := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder)).Tracer("shop")
	ctx, span := tracer.Start(context.Background(), "GET /search")
	_, err := admitter.Acquire(ctx)
	span.End()
	event := recorder.Ended()[0].Events()[0]
	fmt.Println(err, event.Name, event.Attributes[1].Value.AsString())
	// Output: weir: limiter "search" refused: closed weir.refused closed
}
