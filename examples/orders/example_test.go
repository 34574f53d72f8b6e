package orders_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/examples/orders"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/weirhttp"
)

// full is a limiter that refuses.
type full struct{}

func (full) Do(context.Context, func(context.Context) error) error {
	return &weir.RefusedError{Limiter: "payments", Reason: weir.ReasonLimitReached, RetryAfter: time.Second}
}

// A fake that refuses. It is enough to test how the code handles a refusal.
func Example_fake() {
	s := &orders.Service{Limit: full{}}
	err := s.Place(context.Background(), "book")
	fmt.Println(s.Later, err)
	// Output: [book] <nil>
}

// busy is an Admitter that refuses every permit.
type busy struct{}

func (busy) Acquire(context.Context) (weir.Permit, error) {
	return weir.Permit{}, &weir.RefusedError{Limiter: "orders", Reason: weir.ReasonQueueFull, RetryAfter: time.Second}
}

// A handler behind a fake [weir.Admitter]: the response that a client receives.
func Example_fakeAdmitter() {
	h := weirhttp.Limit(http.NotFoundHandler(), weirhttp.One(busy{}))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/orders", nil))
	fmt.Print(w.Code, " ", w.Body)
	// Output: 503 Service Unavailable: queue full
}

// A limiter that refuses on demand: a cap of 0 admits nothing, and a cap above the limit has
// no effect. A fixed law keeps the limit constant.
func Example_refuseOnDemand() {
	lim := weir.Must(weir.New(weir.Config{Name: "payments", Law: law.Fixed{Limit: 10}}))
	s := &orders.Service{Limit: lim, Payments: answers(200, 200)}
	place := func(order string) { fmt.Println(s.Place(context.Background(), order), s.Later) }

	place("book")
	if err := lim.SetCap(0); err != nil {
		fmt.Println(err)
		return
	}
	place("lamp")
	if err := lim.SetCap(10); err != nil {
		fmt.Println(err)
		return
	}
	place("pen")
	// Output:
	// <nil> []
	// <nil> [lamp]
	// <nil> [lamp]
}

// A closed limiter refuses all work, as during the shutdown of the program.
func Example_closed() {
	lim := weir.Must(weir.New(weir.Config{Name: "payments"}))
	lim.Close()
	fmt.Println(lim.Do(context.Background(), func(context.Context) error { return nil }))
	// Output: weir: limiter "payments" refused: closed
}

// A full limiter without a fake: the test holds the only slot.
func Example_takeTheSlots() {
	lim := weir.Must(weir.New(weir.Config{Name: "payments", Law: law.Fixed{Limit: 1}}))
	permit, _ := lim.TryAcquire(context.Background())
	defer permit.Release()
	s := &orders.Service{Limit: lim}
	fmt.Println(s.Place(context.Background(), "book"), s.Later)
	// Output: <nil> [book]
}
