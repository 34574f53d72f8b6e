package throttle

import (
	"testing"
	"time"

	"github.com/weir-go/weir"
)

// An operation that the pace refuses comes back before the queue has drained, any other when the
// limiter says, and all within 10 s.
func TestComeBack(t *testing.T) {
	for _, test := range []struct {
		reason     weir.Reason
		told, want time.Duration
	}{
		{weir.ReasonPace, 30 * time.Second, 150 * time.Millisecond},
		{weir.ReasonPace, 200 * time.Millisecond, 100 * time.Millisecond},
		{weir.ReasonQueueFull, 200 * time.Millisecond, 200 * time.Millisecond},
		{weir.ReasonQueueTimeout, 30 * time.Second, 10 * time.Second},
		{weir.ReasonQueueFull, 0, 10 * time.Millisecond},
	} {
		if got := comeBack(test.reason, test.told); got != test.want {
			t.Errorf("%v, %v: %v, want %v", test.reason, test.told, got, test.want)
		}
	}
}
