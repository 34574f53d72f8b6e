package weir_test

import (
	"fmt"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/law"
)

// Two routes share one pool of ten connections. Three of them are always there for
// checkout, however greedy search is.
func ExampleGroup() {
	pool, err := weir.NewGroup(10)
	if err != nil {
		panic(err)
	}
	route := weir.Config{Initial: 10, Law: law.Fixed{}} // let the cap decide
	route.Name = "search"
	search := weir.Must(pool.New(route, weir.Stake{}))
	route.Name = "checkout"
	checkout := weir.Must(pool.New(route, weir.Stake{Reserved: 3, Share: 2}))

	searches := 0
	for {
		if _, ok := search.TryAcquire(); !ok {
			break
		}
		searches++
	}
	_, ok := checkout.TryAcquire()
	fmt.Println(searches, "searches, checkout admitted:", ok)
	for _, m := range pool.Snapshot().Members {
		fmt.Printf("%s: %d in flight, entitled to %.1f, borrowed %.1f\n", m.Name, m.InFlight, m.Entitled, m.Borrowed)
	}
	// Output:
	// 7 searches, checkout admitted: true
	// checkout: 1 in flight, entitled to 7.7, borrowed 0.0
	// search: 7 in flight, entitled to 2.3, borrowed 4.7
}

func ExampleGroup_Update() {
	pool, err := weir.NewGroup(10)
	if err != nil {
		panic(err)
	}
	checkout := weir.Must(pool.New(weir.Config{Name: "checkout"}, weir.Stake{}))
	err = pool.Update(checkout, weir.Config{Name: "checkout"}, weir.Stake{Reserved: 4})
	fmt.Println(err, checkout.Snapshot().Reserved)
	// Output: <nil> 4
}

func ExampleGroup_Resize() {
	pool, err := weir.NewGroup(10)
	if err != nil {
		panic(err)
	}
	weir.Must(pool.New(weir.Config{Name: "checkout"}, weir.Stake{Reserved: 4}))
	fmt.Println(pool.Resize(3))
	fmt.Println(pool.Resize(6), pool.Snapshot().Max)
	// Output:
	// weir: invalid configuration of the group: its cap is 3: want at least 4, the sum of what its limiters reserve
	// <nil> 6
}

func ExampleGroup_Remove() {
	pool, err := weir.NewGroup(10)
	if err != nil {
		panic(err)
	}
	search := weir.Must(pool.New(weir.Config{Name: "search"}, weir.Stake{}))
	permit, _ := search.TryAcquire()
	fmt.Println(pool.Remove(search))
	permit.Release()
	fmt.Println(pool.Remove(search))
	// Output:
	// weir: limiter is in use: "search"
	// <nil>
}
