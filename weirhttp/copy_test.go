package weirhttp_test

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/weirhttp"
)

// The server removes the files of a form, and outer layers see the pattern, though the handler has
// a copy of the request.
func TestServerKnowsOfTheForm(t *testing.T) {
	streams := limittest.Fixed(t, 10, weir.Queue{})
	limited := func(cfg weirhttp.Config) func(http.Handler) http.Handler {
		return func(next http.Handler) http.Handler {
			return weirhttp.New(next, weirhttp.One(limittest.Fixed(t, 10, weir.Queue{})), cfg)
		}
	}
	trusting := func(vouched bool) func(http.Handler) http.Handler {
		return func(next http.Handler) http.Handler {
			return weirhttp.Trust(next, func(*http.Request) bool { return vouched })
		}
	}
	for name, with := range map[string]func(http.Handler) http.Handler{
		"tenant":    limited(weirhttp.Config{Tenant: func(*http.Request) string { return "a" }}),
		"streams":   limited(weirhttp.Config{Streams: streams}),
		"both":      limited(weirhttp.Config{Streams: streams, Tenant: func(*http.Request) string { return "a" }}),
		"trusted":   trusting(true),
		"untrusted": trusting(false),
	} {
		mux := http.NewServeMux()
		mux.HandleFunc("POST /form/{id}", func(_ http.ResponseWriter, r *http.Request) {
			if err := r.ParseMultipartForm(1); err != nil {
				t.Error(err)
			}
		})
		h := with(mux)
		var body bytes.Buffer
		form := multipart.NewWriter(&body)
		file, _ := form.CreateFormFile("file", "name")
		_, _ = file.Write(make([]byte, 1<<10))
		form.Close()
		r := httptest.NewRequest(http.MethodPost, "/form/1", &body)
		r.Header.Set("Content-Type", form.FormDataContentType())
		r.Header.Set(weirhttp.PriorityHeader, "low")
		h.ServeHTTP(httptest.NewRecorder(), r)
		if r.Pattern != "POST /form/{id}" || r.MultipartForm == nil || len(r.MultipartForm.File["file"]) != 1 {
			t.Errorf("%s: pattern %q, form %v", name, r.Pattern, r.MultipartForm)
			continue
		}
		must.Do(t, r.MultipartForm.RemoveAll())
	}
}
