package nostr

import (
	"encoding/hex"
	"strconv"
)

// AppendJSON appends the event as the protocol writes it.
func (e *Event) AppendJSON(b []byte) []byte {
	b = append(b, `{"id":"`...)
	b = hex.AppendEncode(b, e.ID[:])
	b = append(b, `","pubkey":"`...)
	b = hex.AppendEncode(b, e.PubKey[:])
	b = append(b, `","created_at":`...)
	b = strconv.AppendInt(b, e.CreatedAt, 10)
	b = append(b, `,"kind":`...)
	b = strconv.AppendInt(b, int64(e.Kind), 10)
	b = append(b, `,"tags":`...)
	b = appendTags(b, e.Tags)
	b = append(b, `,"content":`...)
	b = appendString(b, e.Content)
	b = append(b, `,"sig":"`...)
	b = hex.AppendEncode(b, e.Sig[:])
	return append(b, `"}`...)
}

// appendCanonical appends the canonical form. The ID is its hash.
func (e *Event) appendCanonical(b []byte) []byte {
	b = append(b, `[0,"`...)
	b = hex.AppendEncode(b, e.PubKey[:])
	b = append(b, `",`...)
	b = strconv.AppendInt(b, e.CreatedAt, 10)
	b = append(b, ',')
	b = strconv.AppendInt(b, int64(e.Kind), 10)
	b = append(b, ',')
	b = appendTags(b, e.Tags)
	b = append(b, ',')
	b = appendString(b, e.Content)
	return append(b, ']')
}

func appendTags(b []byte, tags []Tag) []byte {
	b = append(b, '[')
	for i, tag := range tags {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '[')
		for j, value := range tag {
			if j > 0 {
				b = append(b, ',')
			}
			b = appendString(b, value)
		}
		b = append(b, ']')
	}
	return append(b, ']')
}

// appendString escapes the characters that NIP-01 names, and no other character that JSON
// allows unescaped: the ID depends on it. The other control characters, which JSON does not
// allow, are written as \u00XX, as all clients do.
func appendString(b []byte, text string) []byte {
	b = append(b, '"')
	plain := 0 // start of the text not yet appended
	for i := range len(text) {
		c := text[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		b = append(b, text[plain:i]...)
		plain = i + 1
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, `\n`...)
		case '\r':
			b = append(b, `\r`...)
		case '\t':
			b = append(b, `\t`...)
		case '\b':
			b = append(b, `\b`...)
		case '\f':
			b = append(b, `\f`...)
		default:
			b = append(b, `\u00`...)
			b = hex.AppendEncode(b, []byte{c})
		}
	}
	b = append(b, text[plain:]...)
	return append(b, '"')
}
