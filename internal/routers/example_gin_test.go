package routers

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/gin-gonic/gin"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/weirhttp"
)

// Gin has writers of its own, which have to write to the limited one.
func Example_gin() {
	set, err := bulkhead.New(bulkhead.Config{Max: 20})
	if err != nil {
		fmt.Println(err)
		return
	}
	gin.SetMode(gin.ReleaseMode)
	mux := gin.New()
	mux.Use(func(c *gin.Context) {
		outer := c.Writer
		next := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			c.Writer, c.Request = ginWriter{outer, w}, r
			c.Next()
			c.Writer = outer
		})
		key := func(r *http.Request) string { return r.Method + " " + c.FullPath() } // the same for all that no route matches
		weirhttp.Limit(next, weirhttp.ByKey(set, key)).ServeHTTP(outer, c.Request)
		c.Abort() // what was refused
	})
	mux.GET("/search/:term", func(c *gin.Context) { c.String(http.StatusTeapot, "tea") })
	mux.GET("/fail", func(c *gin.Context) { c.Status(http.StatusInternalServerError) })

	for _, path := range []string{"/search/a", "/search/b", "/fail", "/invented"} {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		fmt.Println(path, w.Code, w.Body.Len())
	}
	fmt.Println(set.Snapshot().ByKey["GET /search/:term"].Completed, set.Snapshot().ByKey["GET /fail"].Failed)
	// Output:
	// /search/a 418 3
	// /search/b 418 3
	// /fail 500 0
	// /invented 404 18
	// 2 1
}

// A ginWriter is gin's, but writes to the limited one.
type ginWriter struct {
	gin.ResponseWriter
	limited http.ResponseWriter
}

func (w ginWriter) WriteHeader(status int) { w.limited.WriteHeader(status) }
func (w ginWriter) WriteHeaderNow()        { w.limited.WriteHeader(w.Status()) }

func (w ginWriter) Write(p []byte) (int, error) { return w.limited.Write(p) }

func (w ginWriter) WriteString(s string) (int, error) { return w.limited.Write([]byte(s)) }

func (w ginWriter) Flush() { _ = http.NewResponseController(w.limited).Flush() }
