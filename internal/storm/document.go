package storm

import (
	"fmt"
	"math/rand/v2"
)

// Stock is the size of the data that a storm prepares for its writes: generating each value
// during the storm would take processor time from the store.
const Stock = 1 << 20

// Readings returns a [Stock] of JSON. Each document is a part of it.
func Readings() []byte {
	text := make([]byte, 0, Stock)
	for len(text) < Stock {
		text = fmt.Appendf(text,
			`{"sensor":"s-%04d","at":"2026-11-21T%02d:%02d:%02d.%03dZ","value":%.3f,"unit":"C","state":"ok"},`,
			rand.IntN(1000), rand.IntN(24), rand.IntN(60), rand.IntN(60), rand.IntN(1000), 20+5*rand.NormFloat64())
	}
	return text
}

// Part returns a random part of the stock, of the given size.
func Part(stock []byte, size int) []byte {
	at := rand.IntN(len(stock) - size)
	return stock[at : at+size]
}
