//go:build js

package main

import (
	"syscall/js"

	"github.com/weir-go/weir/internal/playground"
)

func main() {
	js.Global().Set("weirRun", js.FuncOf(func(_ js.Value, args []js.Value) any {
		answer, err := playground.Handle([]byte(args[0].String()))
		if err != nil {
			return map[string]any{"error": err.Error()}
		}
		return map[string]any{"answer": string(answer)}
	}))
	js.Global().Call("weirReady")
	select {} // the page calls weirRun from now on
}
