package retryafter_test

import (
	"math"
	"net/http"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/retryafter"
)

func TestOf(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		text, date string
		want       time.Duration
		ok         bool
	}{
		{"7", "", 7 * time.Second, true},
		{"0", "", 0, true},
		{"9223372036", "", 9223372036 * time.Second, true},
		{"9223372037", "", math.MaxInt64, true},
		{"99999999999999999999999", "", math.MaxInt64, true},
		{"Thu, 01 Jan 2026 12:00:30 GMT", "", 30 * time.Second, true},
		{"Thu, 01 Jan 2026 12:00:30 GMT", "Thu, 01 Jan 2026 12:00:10 GMT", 20 * time.Second, true},
		{"Thu, 01 Jan 2026 12:00:30 GMT", "yesterday", 30 * time.Second, true},
		{"Thu, 01 Jan 2026 11:00:00 GMT", "", 0, true},
		{"", "", 0, false},
		{"-7", "", 0, false},
		{"+7", "", 0, false},
		{"1.5", "", 0, false},
		{" ", "", 0, false},
		{"soon", "", 0, false},
	} {
		h := http.Header{"Retry-After": {test.text}}
		if test.date != "" {
			h.Set("Date", test.date)
		}
		if got, ok := retryafter.Of(h, now); got != test.want || ok != test.ok {
			t.Errorf("Of(%q, Date %q) = %v, %t; want %v, %t", test.text, test.date, got, ok, test.want, test.ok)
		}
	}
	if _, ok := retryafter.Of(http.Header{}, now); ok {
		t.Error("a response without Retry-After has one")
	}
}
