package routers

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/go-chi/chi/v5"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/weirhttp"
)

// In chi, middleware of a Group or a With runs when the route is known. In a Use of the top router
// the pattern is still empty, and within a Route it ends in /*, so that all routes there would
// share one key.
func Example_chi() {
	set, err := bulkhead.New(bulkhead.Config{Max: 20})
	if err != nil {
		fmt.Println(err)
		return
	}
	byPattern := weirhttp.ByKey(set, func(r *http.Request) string {
		return r.Method + " " + chi.RouteContext(r.Context()).RoutePattern()
	})
	mux := chi.NewRouter()
	mux.Group(func(mux chi.Router) {
		mux.Use(func(next http.Handler) http.Handler { return weirhttp.Limit(next, byPattern) })
		mux.Get("/search/{term}", func(http.ResponseWriter, *http.Request) {})
	})

	for _, path := range []string{"/search/a", "/search/b", "/invented"} {
		mux.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, path, nil))
	}
	fmt.Println(set.Snapshot().ByKey["GET /search/{term}"].Succeeded)
	// Output: 2
}
