package weirtemporal_test

import (
	"fmt"
	"log"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/worker"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/weirtemporal"
)

// A worker with as many slots for activities as its database takes.
func Example() {
	c, err := client.NewLazyClient(client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	database := weir.Must(weir.New(weir.Config{Name: "database", Max: 200}))
	slots := weirtemporal.New(database)
	w := worker.New(c, "invoices", worker.Options{Plugins: []worker.Plugin{slots.Plugin()}})
	fmt.Println(w != nil, slots.MaxSlots())
	// Output: true 200
}

// A worker that has a tuner gets the slots by hand.
func ExampleSlots_Interceptor() {
	slots := weirtemporal.New(weir.Must(weir.New(weir.Config{Name: "database"})))
	fixed, err := worker.NewFixedSizeTuner(worker.FixedSizeTunerOptions{NumWorkflowSlots: 50})
	if err != nil {
		log.Fatal(err)
	}
	tuner, err := worker.NewCompositeTuner(worker.CompositeTunerOptions{
		ActivitySlotSupplier:      slots,
		WorkflowSlotSupplier:      fixed.GetWorkflowTaskSlotSupplier(),
		LocalActivitySlotSupplier: fixed.GetLocalActivitySlotSupplier(),
		NexusSlotSupplier:         fixed.GetNexusSlotSupplier(),
	})
	options := worker.Options{Tuner: tuner, Interceptors: []interceptor.WorkerInterceptor{slots.Interceptor()}}
	fmt.Println(len(options.Interceptors), err)
	// Output: 1 <nil>
}

// Slots are handed out while there is room below the limit.
func ExampleSlots_TryReserveSlot() {
	slots := weirtemporal.New(weir.Must(weir.New(weir.Config{Name: "database", Law: law.Fixed{Limit: 2}})))
	for range 3 {
		fmt.Println(slots.TryReserveSlot(nil) != nil)
	}
	// Output:
	// true
	// true
	// false
}
