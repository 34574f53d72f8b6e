package gen_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/weir-go/weir/examples/relay/gen"
	"github.com/weir-go/weir/examples/relay/protocol"
)

func ExampleGenerator() {
	g := gen.New(1, 100)
	e := g.Next()
	fmt.Println(e.Kind, protocol.Verify(&e))
	// Output: 1 <nil>
}

func ExampleWrite() {
	var file bytes.Buffer
	err := gen.Write(context.Background(), &file, 3, 1)
	fmt.Println(bytes.Count(file.Bytes(), []byte("\n")), err)
	// Output: 3 <nil>
}

// few is more than a batch. Signing takes milliseconds under the race detector.
const few = 140

func TestEventsAreGenuine(t *testing.T) {
	g := gen.New(1, 20)
	seen := map[string]bool{}
	kinds := map[int]int{}
	for range few {
		e := g.Next()
		text := protocol.AppendJSON(nil, &e)
		parsed, err := protocol.ParseEvent(text, protocol.Limits{})
		if err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if err := protocol.Verify(&parsed); err != nil || seen[e.ID] {
			t.Fatalf("%v, seen %v: %s", err, seen[e.ID], text)
		}
		seen[e.ID] = true
		kinds[e.Kind]++
		if e.Kind == 30023 && (len(e.Content) < 10_000 || len(e.Content) > 30_000) {
			t.Errorf("an article of %d bytes", len(e.Content))
		}
	}
	for _, kind := range []int{0, 1, 3, 5, 6, 7} {
		if kinds[kind] == 0 {
			t.Errorf("no event of kind %d: %v", kind, kinds)
		}
	}
}

func TestUnsignedEventsAreTheSame(t *testing.T) {
	signed, unsigned := gen.New(1, 20), gen.New(1, 20)
	for range 20 {
		want, got := signed.Next(), unsigned.Unsigned()
		if want.Sig == got.Sig {
			t.Fatalf("a signature: %s", protocol.AppendJSON(nil, &got))
		}
		want.Sig = strings.Repeat("0", 128)
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("got  %s\nwant %s", protocol.AppendJSON(nil, &got), protocol.AppendJSON(nil, &want))
		}
	}
}

func TestTheSameSeedGivesTheSameLines(t *testing.T) {
	lines := func(n int, seed uint64) []byte {
		var b bytes.Buffer
		if err := gen.Write(t.Context(), &b, n, seed); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	all := lines(few, 1)
	if got := lines(20, 1); !bytes.HasPrefix(all, got) {
		t.Error("fewer lines are not the first ones")
	}
	if got := lines(20, 2); bytes.HasPrefix(all, got) {
		t.Error("the same lines for another seed")
	}

	var one []byte
	g := gen.New(1, 10_000)
	for range few {
		e := g.Next()
		one = append(protocol.AppendJSON(one, &e), '\n')
	}
	if !bytes.Equal(one, all) {
		t.Error("other lines than those of a Generator")
	}
}

type brokenDisk struct{ problem error }

func (w brokenDisk) Write([]byte) (int, error) { return 0, w.problem }

func TestWriteEnds(t *testing.T) {
	full := errors.New("disk full")
	if err := gen.Write(t.Context(), brokenDisk{full}, 1<<30, 1); !errors.Is(err, full) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := gen.Write(ctx, &bytes.Buffer{}, 1<<30, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if err := gen.Write(t.Context(), brokenDisk{full}, 0, 1); err != nil {
		t.Errorf("%v for no events", err)
	}
}
