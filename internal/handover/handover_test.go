package handover_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/weir-go/weir/internal/handover"
	"github.com/weir-go/weir/internal/must"
)

// A request comes as it was, or is refused: JSON has no bytes that are not UTF-8.
func TestRequestsComeAsTheyWere(t *testing.T) {
	for text, keeps := range map[string]bool{"a\x01\"é\ufffd": true, "": true, "\xff": false, "a\xc3": false} {
		for _, r := range []handover.Request{
			{Enqueue: &handover.Enqueue{Payload: []string{"b", text}}},
			{Work: &handover.Work{Command: []string{text}}},
			{Jobs: &handover.Jobs{Queue: handover.Queue{Embedded: text}}},
		} {
			variable, err := r.Encode()
			if !keeps {
				if err == nil || !strings.Contains(err.Error(), "no UTF-8") {
					t.Errorf("%q: %v", text, err)
				}
				continue
			}
			must.Do(t, err)
			if got := must.Have(handover.Decode(strings.TrimPrefix(variable, handover.Variable+"=")))(t); !reflect.DeepEqual(got, r) {
				t.Errorf("%q came as %+v", text, got)
			}
		}
	}
}
