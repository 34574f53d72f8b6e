package law_test

import (
	"fmt"

	"github.com/weir-go/weir/law"
)

func ExampleForms() {
	for _, form := range law.Forms() {
		if form.Name == "setpoint" {
			for _, s := range form.Settings {
				fmt.Println(s.Name, s.Allowed)
			}
		}
	}
	// Output:
	// budget 0s or more
	// without climb|burst|fail|yield|tick|look|stays|hold
}
