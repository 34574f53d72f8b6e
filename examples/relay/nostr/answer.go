package nostr

import (
	"encoding/hex"
	"strconv"
)

// AppendEventMessage appends an event for a subscription.
func AppendEventMessage(b []byte, subscription string, e *Event) []byte {
	b = appendString(append(b, `["EVENT",`...), subscription)
	return append(e.AppendJSON(append(b, ',')), ']')
}

// AppendEOSE appends the message that ends the stored events of a subscription.
func AppendEOSE(b []byte, subscription string) []byte {
	return append(appendString(append(b, `["EOSE",`...), subscription), ']')
}

// AppendOK appends the answer to an event. The reason may be empty if it was accepted.
func AppendOK(b []byte, id ID, ok bool, reason string) []byte {
	b = hex.AppendEncode(append(b, `["OK","`...), id[:])
	b = strconv.AppendBool(append(b, `",`...), ok)
	return append(appendString(append(b, ','), reason), ']')
}

// AppendClosed appends the message that the relay ended or refused a subscription.
func AppendClosed(b []byte, subscription, reason string) []byte {
	b = appendString(append(b, `["CLOSED",`...), subscription)
	return append(appendString(append(b, ','), reason), ']')
}

// AppendNotice appends a message for people.
func AppendNotice(b []byte, text string) []byte {
	return append(appendString(append(b, `["NOTICE",`...), text), ']')
}

// AppendAuth appends the challenge that the client must repeat in its AuthMessage.
func AppendAuth(b []byte, challenge string) []byte {
	return append(appendString(append(b, `["AUTH",`...), challenge), ']')
}

// AppendCount appends the answer to a CountMessage.
func AppendCount(b []byte, subscription string, count int) []byte {
	b = appendString(append(b, `["COUNT",`...), subscription)
	b = strconv.AppendInt(append(b, `,{"count":`...), int64(count), 10)
	return append(b, `}]`...)
}
