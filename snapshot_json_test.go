package weir_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/histogram"
	"github.com/weir-go/weir/law"
)

// Each field of a snapshot is in JSON, under a name of its own and with its own value.
func TestEachFieldIsInJSON(t *testing.T) {
	var s weir.Snapshot
	want := map[string]any{}
	n := 0
	for field, v := range reflect.ValueOf(&s).Elem().Fields() {
		n++
		name := field.Tag.Get("wire")
		if _, twice := want[name]; twice || name == "" {
			t.Fatalf("%s is named %q, which is empty or taken", field.Name, name)
		}
		if !strings.HasPrefix(strings.ReplaceAll(name, "_", ""), strings.ToLower(field.Name)) {
			t.Errorf("%s is named %q: want a name that begins like it", field.Name, name)
		}
		switch v.Interface().(type) {
		case time.Duration:
			v.SetInt(int64(n) * int64(time.Millisecond))
			want[name] = float64(n)
		case int:
			v.SetInt(int64(n))
			want[name] = float64(n)
		case uint64:
			v.SetUint(uint64(n))
			want[name] = float64(n)
		case float64:
			v.SetFloat(float64(n))
			want[name] = float64(n)
		case string:
			v.SetString("a \"b\"")
			want[name] = "a \"b\""
		case bool:
			v.SetBool(true)
			want[name] = true
		case law.Reason:
			v.Set(reflect.ValueOf(law.Reason{Code: law.Above, Signal: law.P95, Have: float64(n)}))
			want[name] = v.Interface().(law.Reason).String()
		case *histogram.Snapshot:
			v.Set(reflect.ValueOf(&histogram.Snapshot{Count: uint64(n)}))
			want[name] = map[string]any{"count": float64(n), "sum_seconds": 0.0, "buckets": nil}
		case map[weir.Reason]uint64:
			v.Set(reflect.ValueOf(map[weir.Reason]uint64{weir.ReasonClosed: 7}))
			want[name] = map[string]any{"closed": 7.0}
		default:
			t.Fatalf("the test knows no value for %s", field.Name)
		}
	}
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}
