package promcheck

import (
	"encoding/base64"
	"os"
	"testing"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/weir-go/weir/internal/must"
)

// TestSpansAreOTLP decodes the spans that weir proxy sends, as written by its own test, with
// the official types. An unknown field is an error.
func TestSpansAreOTLP(t *testing.T) {
	text := must.Have(os.ReadFile("../../cmd/weir/internal/spans/testdata/export.json"))(t)
	var got trace.TracesData
	must.Do(t, protojson.Unmarshal(text, &got))
	if name := value(got.ResourceSpans[0].Resource.Attributes, "service.name").GetStringValue(); name != "shop" {
		t.Errorf("service %q", name)
	}
	spans := got.ResourceSpans[0].ScopeSpans[0].Spans
	if len(spans) != 3 {
		t.Fatalf("%d spans", len(spans))
	}

	first := spans[0]
	// OTLP encodes identifiers as hexadecimal digits, where the JSON of other protocols uses
	// Base64.
	id := base64.StdEncoding.EncodeToString
	if id(first.TraceId) != "0af7651916cd43dd8448eb211c80319c" || id(first.SpanId) != "0102030405060708" || id(first.ParentSpanId) != "b7ad6b7169203331" {
		t.Errorf("trace %s, span %s, parent %s", id(first.TraceId), id(first.SpanId), id(first.ParentSpanId))
	}
	if first.Kind != trace.Span_SPAN_KIND_SERVER || first.Name != "GET /search/{term}" || first.EndTimeUnixNano-first.StartTimeUnixNano != 30e6 || first.Status != nil {
		t.Errorf("%v", first)
	}
	for key, want := range map[string]string{
		"http.request.method": "GET", "url.path": "/search/<x>", "url.scheme": "https", "http.route": "/search/{term}", "client.address": "198.51.100.7",
	} {
		if got := value(first.Attributes, key).GetStringValue(); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	if status := value(first.Attributes, "http.response.status_code").GetIntValue(); status != 200 {
		t.Errorf("status %d", status)
	}
	if e := first.Events[0]; e.Name != "weir.queued" || value(e.Attributes, "weir.queue.wait").GetDoubleValue() != 0.012 {
		t.Errorf("%v", e)
	}

	if refused := spans[1]; refused.Status.Code != trace.Status_STATUS_CODE_ERROR || refused.Events[0].Name != "weir.refused" ||
		value(refused.Events[0].Attributes, "error.type").GetStringValue() != "queue full" || refused.ParentSpanId != nil {
		t.Errorf("%v", refused)
	}
	if cut := spans[2]; cut.Status.Code != trace.Status_STATUS_CODE_ERROR || value(cut.Attributes, "http.response.status_code") != nil {
		t.Errorf("%v", cut)
	}
}

func value(of []*common.KeyValue, key string) *common.AnyValue {
	for _, a := range of {
		if a.Key == key {
			return a.Value
		}
	}
	return nil
}
