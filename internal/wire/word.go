package wire

import "fmt"

// Word returns the word of a value of an enumeration, or its type and number if it has no word.
func Word[T ~uint8](words []string, value T, kind string) string {
	if int(value) < len(words) && words[value] != "" {
		return words[value]
	}
	return fmt.Sprintf("%s(%d)", kind, uint8(value))
}
