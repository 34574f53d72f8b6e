package protocol

import (
	"encoding/json"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// decode copies a text and returns its value. It refuses text that is not JSON, or that has more
// than 10,000 arrays and objects inside one another. The validation of encoding/json does not
// recur, unlike the validation of gjson.
func decode(text []byte) (gjson.Result, error) {
	switch {
	case len(text) > MaxMessage:
		return gjson.Result{}, Errorf(Invalid, "%d bytes, where at most %d are allowed", len(text), MaxMessage)
	case !utf8.Valid(text):
		return gjson.Result{}, Errorf(Invalid, "the text is not UTF-8")
	case !json.Valid(text):
		return gjson.Result{}, Errorf(Invalid, "the text is not JSON")
	}
	return gjson.ParseBytes(text), nil
}
