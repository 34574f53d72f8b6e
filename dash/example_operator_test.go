package dash_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/dash"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/weirhttp"
)

// Operators see why a request was refused, and put another law in place.
func ExampleConfig() {
	own := weir.Config{Name: "search"}
	lim := weir.Must(weir.New(own))
	refusals := new(dash.Refusals)
	config := dash.Config{
		Read:     dash.Limiters(lim),
		Token:    func() (string, error) { return "a token of an operator", nil },
		Refusals: refusals,
		Law: func(name string, l law.Law) error {
			if name != own.Name {
				return fmt.Errorf("%q has no law to change", name)
			}
			changed := own
			if l != nil {
				changed.Law = l
			}
			return lim.Update(changed)
		},
	}
	if _, err := dash.New(config); err != nil {
		panic(err)
	}
	handler := weirhttp.New(http.NotFoundHandler(), weirhttp.One(lim), weirhttp.Config{
		OnRefused: func(w http.ResponseWriter, r *http.Request, err error) {
			refusals.Add(r.Context(), r.Header.Get("X-Request-Id"), err)
			weirhttp.RefuseResponse(w, r, err)
		},
	})

	fmt.Println(config.Law("checkout", nil))
	fmt.Println(config.Law("search", law.Fixed{Limit: 7}), lim.Snapshot().Limit)
	lim.Close()
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/", nil))
	fmt.Println(answer.Code)
	// Output:
	// "checkout" has no law to change
	// <nil> 7
	// 503
}
