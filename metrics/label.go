package metrics

import (
	"fmt"
	"hash/fnv"
	"strings"
	"unicode/utf8"
)

// MaxLabel is how many bytes the value of a label has at most.
const MaxLabel = 128

// clean returns the value of a label: text as it is if it is short and valid.
func clean(text string) string {
	if len(text) <= MaxLabel && utf8.ValidString(text) {
		return text
	}
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(text)) // never fails
	suffix := fmt.Sprintf("~%016x", hash.Sum64())
	text = strings.ToValidUTF8(text[:min(len(text), MaxLabel)], "\uFFFD")
	for len(text)+len(suffix) > MaxLabel {
		_, last := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-last]
	}
	return text + suffix
}
