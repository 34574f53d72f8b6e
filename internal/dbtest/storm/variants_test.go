package storm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/dgraph-io/badger/v4/options"

	"github.com/weir-go/weir/internal/storm"
)

// A variant is a storm that differs from the others of its seed in one respect.
type variant struct {
	name     string
	stock    []byte // each document is a part of it
	memtable int64
	size     int // of a document, in bytes
	writers  int
	batch    int           // documents written at once
	on, off  time.Duration // of bursts; without off the storm is constant
	data     int64         // bytes already in the store
	readers  int

	compression options.CompressionType // of Badger. Defaults to ZSTD
	fresh       bool                    // each key is one that the store does not have
}

// heldOutSeed is of the storms by which the laws are judged. They were tuned with those of seed 20.
const heldOutSeed = 23

// variants draws the storms of a seed: the content and size of documents, and the number of
// writers.
func variants(seed uint64) []variant {
	r := rand.New(rand.NewPCG(seed, 14))
	between := func(least, most float64) float64 { return least * math.Pow(most/least, r.Float64()) }
	seconds := func(least, most float64) time.Duration {
		return time.Duration(between(least, most) * float64(time.Second)).Round(100 * time.Millisecond)
	}
	var all []variant
	add := func(name string, change func(*variant)) {
		v := variant{
			name: name, stock: documentsOf(r), memtable: smallMemtable,
			size: int(between(2<<10, 8<<10)), writers: int(between(48, 96)), batch: 1,
		}
		change(&v)
		all = append(all, v)
	}
	add("plain", func(*variant) {})
	add("memtables as shipped", func(v *variant) { v.memtable = 0 })
	add("100 B", func(v *variant) { v.size = int(between(80, 160)) })
	add("64 KB", func(v *variant) { v.size = int(between(48<<10, 64<<10)) })
	add("8 writers", func(v *variant) { v.writers = 8 })
	add("512 writers", func(v *variant) { v.writers = 512 })
	add("1024 writers", func(v *variant) { v.writers = 1024 })
	add("batches of 100", func(v *variant) { v.batch, v.size = 100, int(between(700, 1000)) })
	add("bursts", func(v *variant) { v.on, v.off = seconds(4, 6), seconds(7, 9) })
	add("a store with data", func(v *variant) { v.data = int64(between(150<<20, 250<<20)) })
	add("reads beside", func(v *variant) { v.readers = int(between(8, 24)) })
	add("random bytes", func(v *variant) { v.stock, v.size = random(), int(between(700, 1400)) })
	return all
}

func (v variant) String() string {
	return fmt.Sprintf("documents of %d B, %d writers, %v on and %v off, %d MiB in the store, %d readers",
		v.size, v.writers, v.on, v.off, v.data>>20, v.readers)
}

const smallMemtable = 1 << 20

// documentsOf returns a stock of JSON. Its fields and words are drawn, and so is its
// compressibility.
func documentsOf(r *rand.Rand) []byte {
	word := func() string {
		letters := make([]byte, 3+r.IntN(8))
		for i := range letters {
			letters[i] = byte('a' + r.IntN(26))
		}
		return string(letters)
	}
	words := make([]string, 200+r.IntN(4000))
	for i := range words {
		words[i] = word()
	}
	fields, said := make([]string, 3+r.IntN(6)), 2+r.IntN(20)
	for i := range fields {
		fields[i] = word()
	}
	var text strings.Builder
	for text.Len() < storm.Stock {
		text.WriteString("{")
		for _, field := range fields {
			fmt.Fprintf(&text, "%q:%d,", field, r.IntN(1_000_000))
		}
		text.WriteString(`"text":"`)
		for range 1 + r.IntN(said) {
			text.WriteString(words[r.IntN(len(words))] + " ")
		}
		text.WriteString("\"},\n")
	}
	return []byte(text.String())
}
