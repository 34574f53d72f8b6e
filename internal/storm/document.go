package storm

import (
	"fmt"
	"math/rand/v2"
)

// Stock is how much a storm has to write at hand: to make each value while the storm lasts would
// take processors that the store needs.
const Stock = 1 << 20

// Readings returns a [Stock] of JSON, of which each document is a part.
func Readings() []byte {
	text := make([]byte, 0, Stock)
	for len(text) < Stock {
		text = fmt.Appendf(text,
			`{"sensor":"s-%04d","at":"2026-11-21T%02d:%02d:%02d.%03dZ","value":%.3f,"unit":"C","state":"ok"},`,
			rand.IntN(1000), rand.IntN(24), rand.IntN(60), rand.IntN(60), rand.IntN(1000), 20+5*rand.NormFloat64())
	}
	return text
}

// Part returns a part of the stock of the given size, from anywhere.
func Part(stock []byte, size int) []byte {
	at := rand.IntN(len(stock) - size)
	return stock[at : at+size]
}
