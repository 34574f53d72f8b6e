package dash_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/dash"
	"github.com/weir-go/weir/throttle"
)

func Example() {
	lim := weir.Must(weir.New(weir.Config{Name: "search"}))
	d, err := dash.New(dash.Config{
		Read:  dash.Limiters(lim),
		Token: func() (string, error) { return os.Getenv("DASH_TOKEN"), nil },
		Hosts: []string{"search.example.com"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	http.Handle("/weir/", http.StripPrefix("/weir", d))
	// Output: weir: invalid configuration: dash: the token has 0 bytes: want 16 or more
}

func ExampleNew() {
	lim := weir.Must(weir.New(weir.Config{Name: "search"}))
	d, err := dash.New(dash.Config{Read: dash.Limiters(lim), Public: true})
	if err != nil {
		panic(err)
	}
	answer := httptest.NewRecorder()
	d.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "http://localhost/", nil))
	fmt.Println(answer.Code, answer.Header().Get("Content-Type"))
	// Output: 200 text/html; charset=utf-8
}

func ExampleReplay() {
	recorded := `{"weir":"recording","version":1}
{"details":{"name":"search","whole":true,"points":[[1772600400000,20,9,0,0,40,88.5,100,100,0]]}}
`
	d, err := dash.Replay(strings.NewReader(recorded), dash.Config{Public: true})
	if err != nil {
		panic(err)
	}
	answer := httptest.NewRecorder()
	d.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "http://localhost/", nil))
	fmt.Println(answer.Code)

	_, err = dash.Replay(strings.NewReader(recorded[:80]), dash.Config{Public: true})
	fmt.Println(err)
	// Output:
	// 200
	// weir: invalid configuration: dash: line 2: is cut off: want it removed, or the rest of the file
}

func ExampleThrottles() {
	db, err := throttle.New(throttle.Config{Name: "db"})
	if err != nil {
		panic(err)
	}
	for _, table := range dash.Throttles(db)() {
		fmt.Println(table.Name, table.Rows[0])
	}
	// Output:
	// db reads [pace, 1/s no bound]
	// db writes [pace, 1/s no bound]
}

func ExampleKeys() {
	set, err := bulkhead.New(bulkhead.Config{ByKey: map[string]bulkhead.Compartment{"/search": {}, "/checkout": {}}})
	if err != nil {
		panic(err)
	}
	for _, snap := range dash.Keys(set)() {
		fmt.Println(snap.Name)
	}
	// Unordered output:
	// /search
	// /checkout
}

func ExampleHandler_Close() {
	lim := weir.Must(weir.New(weir.Config{Name: "search"}))
	d, err := dash.New(dash.Config{Read: dash.Limiters(lim), Public: true})
	if err != nil {
		panic(err)
	}
	server := &http.Server{Handler: d}
	server.RegisterOnShutdown(d.Close)
	d.Close()
	answer := httptest.NewRecorder()
	d.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "http://localhost/events", nil))
	fmt.Println(answer.Code, answer.Body)
	// Output: 503 this dashboard is closed
}
