package weirotel_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/weirotel"
)

func events(t testing.TB, ctx context.Context, f func(context.Context)) []sdktrace.Event {
	t.Helper()
	recorder := tracetest.NewSpanRecorder()
	ctx, span := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder)).Tracer("test").Start(ctx, "work")
	f(ctx)
	span.End()
	return recorder.Ended()[0].Events()
}

func attributes(e sdktrace.Event) map[string]any {
	all := map[string]any{}
	for _, a := range e.Attributes {
		all[string(a.Key)] = a.Value.AsInterface()
	}
	return all
}

func TestSpanSaysWhatTheAdmitterDid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lim := weir.Must(weir.New(weir.Config{Name: "search", Max: 1, Queue: weir.Queue{Size: 1, Timeout: time.Second}}))
		admitter := weirotel.Traced(lim)
		acquire := func(ctx context.Context) (weir.Permit, []sdktrace.Event, error) {
			var permit weir.Permit
			var err error
			left := events(t, ctx, func(ctx context.Context) { permit, err = admitter.Acquire(ctx) })
			return permit, left, err
		}
		first, left, err := acquire(t.Context())
		if err != nil || len(left) != 0 {
			t.Fatalf("%v, %v: want no event of work that starts at once", left, err)
		}

		go func() {
			time.Sleep(300 * time.Millisecond)
			first.Done(nil)
		}()
		second, left, err := acquire(t.Context())
		if err != nil || len(left) != 1 || left[0].Name != weirotel.EventQueued || attributes(left[0])["weir.queue.wait"] != 0.3 {
			t.Errorf("%v, %v: want a wait of 0.3 s", left, err)
		}

		if _, left, err = acquire(t.Context()); len(left) != 1 || left[0].Name != weirotel.EventRefused {
			t.Fatalf("%v, %v: want a refusal", left, err)
		}
		got := attributes(left[0])
		if got["error.type"] != "queue timeout" || got["weir.limiter.name"] != "search" {
			t.Errorf("%v: want the reason and the limiter", got)
		}

		soon, cancel := context.WithTimeout(t.Context(), time.Hour)
		time.AfterFunc(100*time.Millisecond, cancel)
		if _, left, err = acquire(soon); !errors.Is(err, context.Canceled) || len(left) != 1 || left[0].Name != weirotel.EventLeft {
			t.Errorf("%v, %v: want one that left", left, err)
		}
		second.Done(nil)
		if s := lim.Snapshot(); s.InFlight != 0 || s.Admitted != 2 {
			t.Errorf("%+v: want all given back", s)
		}
	})
}

// Traced passes on the other methods of a limiter, with their events.
func TestTraceOfMoreThanAcquire(t *testing.T) {
	lim := weir.Must(weir.New(weir.Config{Name: "search", Max: 3, Law: law.Fixed{}}))
	admitter := weirotel.Traced(lim)
	permit, err := weir.AcquireN(t.Context(), admitter, 3)
	if s := admitter.(interface{ Snapshot() weir.Snapshot }).Snapshot(); err != nil || s.InFlight != 3 {
		t.Errorf("%d in flight, want 3: %v", s.InFlight, err)
	}
	for name, ask := range map[string]func(context.Context) error{
		"Full": func(ctx context.Context) error { return weir.Full(ctx, admitter) },
		"AcquireN": func(ctx context.Context) error {
			_, err := weir.AcquireN(ctx, admitter, 2)
			return err
		},
	} {
		left := events(t, t.Context(), func(ctx context.Context) { err = ask(ctx) })
		if !errors.Is(err, weir.ErrLimitReached) || len(left) != 1 || left[0].Name != weirotel.EventRefused {
			t.Errorf("%s: %v, %v: want a refusal", name, left, err)
		}
	}
	permit.Release()
}

type refusing struct{ err error }

func (r refusing) Acquire(context.Context) (weir.Permit, error) { return weir.Permit{}, r.err }

func TestTraceOfARefusalWithoutAReason(t *testing.T) {
	left := events(t, t.Context(), func(ctx context.Context) { _, _ = weirotel.Traced(refusing{weir.ErrOverload}).Acquire(ctx) })
	if len(left) != 1 || left[0].Name != weirotel.EventRefused {
		t.Errorf("%v, want a refusal", left)
	}
}

func TestTraceOfAKey(t *testing.T) {
	set := must.Have(bulkhead.New(bulkhead.Config{}))(t)
	handle := must.Have(set.Handle("\xff"))(t)
	set.Close()
	left := events(t, t.Context(), func(ctx context.Context) { _, _ = weirotel.Traced(handle).Acquire(ctx) })
	if len(left) != 1 || !utf8.ValidString(attributes(left[0])["weir.limiter.name"].(string)) {
		t.Errorf("%v: want a refusal with a valid name", left)
	}
}

func TestTraceWithoutASpan(t *testing.T) {
	admitter := weirotel.Traced(weir.Must(weir.New(weir.Config{})))
	for _, ctx := range []context.Context{nil, t.Context()} {
		permit, err := admitter.Acquire(ctx)
		if err != nil {
			t.Error(err)
		}
		permit.Done(nil)
	}
}

func TestTraceOfANilAdmitterExempts(t *testing.T) {
	var none *weir.Limiter
	for _, admitter := range []weir.Admitter{nil, none} {
		if traced := weirotel.Traced(admitter); traced != nil {
			t.Errorf("Traced(%T) is %v: want nil", admitter, traced)
		}
	}
}

func TestTraceDoesNotAllocateWithoutASpan(t *testing.T) {
	admitter, ctx := weirotel.Traced(weir.Must(weir.New(weir.Config{}))), t.Context()
	pass := func() {
		if permit, err := admitter.Acquire(ctx); err == nil {
			permit.Done(nil)
		}
	}
	pass()
	if n := testing.AllocsPerRun(100, pass); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
