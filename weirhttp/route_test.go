package weirhttp_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/weirhttp"
)

// ask has the handler serve a GET and returns the status.
func ask(h http.Handler, path string) int {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w.Code
}

func TestEachRouteHasItsCompartment(t *testing.T) {
	set := must.Have(bulkhead.New(bulkhead.Config{Default: bulkhead.Compartment{Config: weir.Config{
		Law: law.Fixed{}, Initial: 1,
	}}}))(t)
	mux := http.NewServeMux()
	h := weirhttp.Limit(mux, weirhttp.ByRoute(mux, set))
	mux.HandleFunc("GET /checkout", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /search/{term}", func(http.ResponseWriter, *http.Request) {
		if got := ask(h, "/search/other"); got != http.StatusServiceUnavailable {
			t.Errorf("the full route answers %d", got)
		}
		if got := ask(h, "/checkout"); got != http.StatusOK {
			t.Errorf("beside a full route another answers %d", got)
		}
	})
	if got := ask(h, "/search/weir"); got != http.StatusOK {
		t.Errorf("search: %d", got)
	}
	for i := range 100 {
		if got := ask(h, fmt.Sprintf("/invented/%d", i)); got != http.StatusNotFound {
			t.Errorf("what no route matches: %d", got)
		}
		_ = ask(h, fmt.Sprintf("/search/%d", i))
	}
	want := []string{"GET /checkout", "GET /search/{term}"}
	if got := slices.Sorted(maps.Keys(set.Snapshot().ByKey)); !slices.Equal(got, want) {
		t.Errorf("keys %q, want %q", got, want)
	}
}

// A mux names the path of the client, and no pattern, for a CONNECT that it redirects.
func TestRedirectsMakeNoCompartment(t *testing.T) {
	set := must.Have(bulkhead.New(bulkhead.Config{}))(t)
	mux := http.NewServeMux()
	mux.HandleFunc("/files/{id}/", func(http.ResponseWriter, *http.Request) {})
	h := weirhttp.Limit(mux, weirhttp.ByRoute(mux, set))
	for path, want := range map[string]int{"/files/invented": 307, "/files/other": 307, "/files/7/": 200} {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Method = http.MethodConnect
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != want {
			t.Errorf("%s: status %d, want %d", path, w.Code, want)
		}
	}
	if got, want := slices.Sorted(maps.Keys(set.Snapshot().ByKey)), []string{"/files/{id}/"}; !slices.Equal(got, want) {
		t.Errorf("keys %q, want %q", got, want)
	}
}

func ExampleByRoute() {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /search/{term}", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("POST /checkout", func(http.ResponseWriter, *http.Request) {})
	set, err := bulkhead.New(bulkhead.Config{
		Max: 20, // connections that both share
		ByKey: map[string]bulkhead.Compartment{
			"POST /checkout": {Reserved: 5},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	h := weirhttp.Limit(mux, weirhttp.ByRoute(mux, set))

	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/search/weir", nil))
	fmt.Println(set.Snapshot().ByKey["GET /search/{term}"].Completed)
	// Output: 1
}

func TestByKey(t *testing.T) {
	set := must.Have(bulkhead.New(bulkhead.Config{}))(t)
	h := weirhttp.Limit(status(204), weirhttp.ByKey(set, func(r *http.Request) string {
		return r.URL.Query().Get("key")
	}))
	for target, want := range map[string]int{
		"/?key=a":                            204,
		"/?key=b":                            204,
		"/":                                  400, // as a set refuses it: leaving out the key exempts nothing
		"/?key=" + strings.Repeat("x", 1000): 400,
	} {
		if got := ask(h, target); got != want {
			t.Errorf("%.20s: status %d, want %d", target, got, want)
		}
	}
	if s := set.Snapshot(); s.ByKey["a"].Succeeded != 1 || s.ByKey["b"].Succeeded != 1 {
		t.Errorf("%v", s.ByKey)
	}
}

// The accounts of a service share its capacity, and each has a limit of its own.
func ExampleByKey() {
	set, err := bulkhead.New(bulkhead.Config{Max: 20})
	if err != nil {
		fmt.Println(err)
		return
	}
	account := func(r *http.Request) string { name, _, _ := r.BasicAuth(); return name } // which middleware outside has checked
	h := weirhttp.Limit(http.NotFoundHandler(), weirhttp.ByKey(set, account))

	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.SetBasicAuth("ada", "secret")
	h.ServeHTTP(httptest.NewRecorder(), r)
	fmt.Println(set.Snapshot().ByKey["ada"].Admitted)
	// Output: 1
}
