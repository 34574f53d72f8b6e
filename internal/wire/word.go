package wire

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line returns a text in one line: as it is, or quoted if it has line breaks or other characters
// that do not print, as a key from outside may have.
func Line(text string) string {
	if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(text)
	}
	return text
}

// Word returns the word of a value of an enumeration, or its type and number if it has no word.
func Word[T ~uint8](words []string, value T, kind string) string {
	if int(value) < len(words) && words[value] != "" {
		return words[value]
	}
	return fmt.Sprintf("%s(%d)", kind, uint8(value))
}
