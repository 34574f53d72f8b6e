package law_test

import (
	"fmt"

	"github.com/weir-go/weir/law"
)

func ExampleForms() {
	for _, form := range law.Forms() {
		if form.Name == "elastic" {
			for _, s := range form.Settings {
				fmt.Println(s.Name, s.Allowed)
			}
		}
	}
	// Output:
	// budget 0s or more
	// replicas 0 to 10000
}
