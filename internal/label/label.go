package label

import (
	"fmt"
	"hash/fnv"
	"strings"
	"unicode/utf8"
)

// Max is how many bytes a label has at most.
const Max = 128

// Clean returns text as it is if it is short and valid. Otherwise it cuts or repairs the text, and
// appends a hash of the original, so that different texts stay different.
func Clean(text string) string {
	if len(text) <= Max && utf8.ValidString(text) {
		return text
	}
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(text)) // never fails
	suffix := fmt.Sprintf("~%016x", hash.Sum64())
	text = strings.ToValidUTF8(text[:min(len(text), Max)], "\uFFFD")
	for len(text)+len(suffix) > Max {
		_, last := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-last]
	}
	return text + suffix
}
