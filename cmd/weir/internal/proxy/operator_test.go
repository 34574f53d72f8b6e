package proxy

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// timed is a writer that notes the deadline for the reading of a request.
type timed struct {
	*httptest.ResponseRecorder
	deadline time.Time
}

func (w *timed) SetReadDeadline(t time.Time) error {
	w.deadline = t
	return nil
}

// Strangers who announce a body and send none would otherwise hold files of the proxy for ever.
func TestBodiesForOperatorsHaveADeadline(t *testing.T) {
	o := new(operator)
	next := http.NotFoundHandler()
	o.current.Store(&next)
	for _, body := range []string{"", "limiter=api"} {
		w := &timed{ResponseRecorder: httptest.NewRecorder()}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(body))
		if body == "" {
			r.Body = http.NoBody
		}
		o.serve(w, r)
		if left := time.Until(w.deadline); (left > 0) != (body != "") || left > operatorTimeout {
			t.Errorf("%v for the body %q", left, body)
		}
	}
}
