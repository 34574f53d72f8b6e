package listen

import (
	"bytes"
	"strconv"
)

// Framing follows HTTP/1 requests through the bytes of a connection. It finds heads whose
// body another server may end elsewhere (RFC 9112, 6.1 and 6.3): heads with both
// Content-Length and Transfer-Encoding, and HTTP/1.0 heads with Transfer-Encoding. net/http
// ignores one of the two headers without reporting it. Framing does not look for heads that
// net/http refuses.
type framing struct {
	step step
	body int64  // bytes before the next line
	line []byte // an incomplete line
	head head
}

// A step is the kind of the next line.
type step uint8

const (
	requestLine step = iota
	headerLine
	chunkLine
	chunkEnd // the empty line after the bytes of a chunk
	trailerLine
	foreign // no more lines: another protocol, or input that net/http refuses
)

// A head holds the parts of a head that decide where the request ends.
type head struct {
	old     bool // HTTP/1.0, which has no chunks
	chunked bool // has Transfer-Encoding
	sized   bool // has Content-Length
	size    int64
	framing bool // the last line was one of the two
	folded  bool // one of the two continues on the next line
}

// refused reports whether net/http must not see the head as it is.
func (h head) refused() bool { return h.folded || h.chunked && (h.sized || h.old) }

// scan returns the number of bytes that may pass: all bytes, or the bytes before the line feed that
// ends a refused head.
func (f *framing) scan(p []byte) int {
	for i := 0; i < len(p) && f.step != foreign; {
		if f.body > 0 {
			n := min(f.body, int64(len(p)-i))
			f.body -= n
			i += int(n)
			continue
		}
		n := bytes.IndexByte(p[i:], '\n')
		if n < 0 {
			f.line = append(f.line, p[i:]...)
			break
		}
		line := p[i : i+n]
		if len(f.line) > 0 {
			line, f.line = append(f.line, line...), nil
		}
		if f.take(bytes.TrimSuffix(line, []byte("\r"))); f.head.refused() && f.step != headerLine {
			return i + n
		}
		i += n + 1
	}
	return len(p)
}

// take processes a line and sets the next step.
func (f *framing) take(line []byte) {
	switch f.step {
	case requestLine:
		f.begin(line)
	case headerLine:
		if len(line) > 0 {
			f.head.take(line)
		} else {
			f.end()
		}
	case chunkLine:
		f.chunk(line)
	case chunkEnd:
		f.step = chunkLine
	case trailerLine:
		if len(line) == 0 {
			f.step = requestLine
		}
	case foreign:
	}
}

// begin processes a request line. Empty lines may precede it.
func (f *framing) begin(line []byte) {
	switch {
	case bytes.HasPrefix(line, []byte("PRI * HTTP/2")):
		f.step = foreign
	case len(line) > 0:
		f.head = head{old: !bytes.HasSuffix(line, []byte("HTTP/1.1"))}
		f.step = headerLine
	}
}

// end processes the empty line that ends a head.
func (f *framing) end() {
	f.step = requestLine
	if f.head.chunked {
		f.step = chunkLine
	} else {
		f.body = f.head.size
	}
}

func (f *framing) chunk(line []byte) {
	digits, _, _ := bytes.Cut(line, []byte(";"))
	size, err := strconv.ParseInt(string(bytes.TrimSpace(digits)), 16, 64)
	switch {
	case err != nil || size < 0:
		f.step = foreign
	case size == 0:
		f.step = trailerLine
	default:
		f.body, f.step = size, chunkEnd
	}
}

func (h *head) take(line []byte) {
	if line[0] == ' ' || line[0] == '\t' {
		h.folded = h.folded || h.framing
		return
	}
	name, value, _ := bytes.Cut(line, []byte(":"))
	sized, chunked := isNamed(name, "Content-Length"), isNamed(name, "Transfer-Encoding")
	h.framing = sized || chunked
	h.sized, h.chunked = h.sized || sized, h.chunked || chunked
	if sized {
		h.size, _ = strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 64)
	}
}

func isNamed(name []byte, as string) bool {
	return len(name) == len(as) && bytes.EqualFold(name, []byte(as))
}
