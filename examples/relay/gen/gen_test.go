package gen_test

import (
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

// few has each kind. Signing takes milliseconds under the race detector.
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
	for _, kind := range []int{1, 3, 7} {
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
