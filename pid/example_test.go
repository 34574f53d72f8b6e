package pid_test

import (
	"fmt"
	"time"

	"github.com/weir-go/weir/pid"
)

// A delay between writes holds the load of a database at 0.85: it rises with the
// load, so the controller is reversed.
func Example() {
	c, err := pid.New(pid.Config{Kp: 0.5, Ki: 0.2, Setpoint: 0.85, Reverse: true, Max: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, load := range []float64{0.60, 1.10, 1.10, 0.95, 0.85} {
		fmt.Printf("load %.2f: delay %.3f s\n", load, c.Update(load, 100*time.Millisecond))
	}
	// Output:
	// load 0.60: delay 0.000 s
	// load 1.10: delay 0.130 s
	// load 1.10: delay 0.135 s
	// load 0.95: delay 0.062 s
	// load 0.85: delay 0.012 s
}

func ExampleController_Retune() {
	conf := pid.Config{Ki: 1, Setpoint: 2, Max: 10}
	c, _ := pid.New(conf)
	for range 10 {
		c.Update(0, time.Second)
	}
	conf.Ki = 0.1 // a tenth of the gain, and the output stays
	err := c.Retune(conf)
	fmt.Println(err, c.Snapshot().Output, c.Update(2, time.Second))
	// Output: <nil> 10 10
}

func ExampleController_Track() {
	c, _ := pid.New(pid.Config{Kp: 1, Ki: 1, Setpoint: 1, Max: 100})
	c.Track(40) // set by hand so far
	fmt.Println(c.Update(1, time.Second))
	// Output: 40
}

func ExampleNew() {
	_, err := pid.New(pid.Config{Kp: -1})
	fmt.Println(err)
	// Output: pid: invalid configuration: Kp is -1: want 0 or more
}
