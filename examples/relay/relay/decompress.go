package relay

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

var (
	gzipStart = []byte{0x1f, 0x8b}
	zstdStart = []byte{0x28, 0xb5, 0x2f, 0xfd}
)

// maxWindow is the memory that a zstd frame may ask for: its specification recommends that
// decoders support at least this.
const maxWindow = 8 << 20

// Decompress returns the lines of a plain, gzip or zstd source, which it detects by the
// first bytes. It returns a plain file unchanged, so that an import can seek in it. The
// caller calls end after the last read of the lines; end does not close the source.
func Decompress(source io.Reader) (lines io.Reader, end func(), err error) {
	in := bufio.NewReader(source)
	start, err := in.Peek(len(zstdStart))
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, fmt.Errorf("relay: the source: %w", err)
	}
	nothing := func() {}
	switch {
	case bytes.HasPrefix(start, gzipStart):
		plain, err := gzip.NewReader(in)
		if err != nil {
			return nil, nil, fmt.Errorf("relay: gzip: %w", err)
		}
		return plain, nothing, nil
	case bytes.Equal(start, zstdStart):
		plain, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, nil, fmt.Errorf("relay: zstd: %w", err)
		}
		return plain, plain.Close, nil
	}
	if file, ok := source.(io.Seeker); ok {
		if _, err := file.Seek(int64(-in.Buffered()), io.SeekCurrent); err == nil {
			return source, nothing, nil
		}
	}
	return in, nothing, nil
}
