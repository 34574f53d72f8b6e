package nostr

// decodeHex decodes lower-case digits that fill to exactly, and reports whether the text is
// well-formed.
func decodeHex(to []byte, text string) bool {
	if len(text) != 2*len(to) {
		return false
	}
	for i := range to {
		high, low := digit(text[2*i]), digit(text[2*i+1])
		if high|low > 15 {
			return false
		}
		to[i] = high<<4 | low
	}
	return true
}

// digit returns the value of a hexadecimal digit, more than 15 for any other byte.
func digit(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	}
	return 255
}
