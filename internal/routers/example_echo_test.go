package routers

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/labstack/echo/v4"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/weirhttp"
)

// Echo turns middleware of net/http into its own.
func Example_echo() {
	set, err := bulkhead.New(bulkhead.Config{Max: 20})
	if err != nil {
		fmt.Println(err)
		return
	}
	mux := echo.New()
	mux.Use(func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			key := func(r *http.Request) string { return r.Method + " " + c.Path() }
			limit := func(h http.Handler) http.Handler { return weirhttp.Limit(h, weirhttp.ByKey(set, key)) }
			return echo.WrapMiddleware(limit)(next)(c)
		}
	})
	mux.GET("/search/:term", func(c echo.Context) error { return c.NoContent(http.StatusNoContent) })
	mux.GET("/fail", func(c echo.Context) error { return c.NoContent(http.StatusInternalServerError) })

	for _, path := range []string{"/search/a", "/search/b", "/fail"} {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		fmt.Println(path, w.Code)
	}
	fmt.Println(set.Snapshot().ByKey["GET /search/:term"].Succeeded, set.Snapshot().ByKey["GET /fail"].Failed)
	// Output:
	// /search/a 204
	// /search/b 204
	// /fail 500
	// 2 1
}
