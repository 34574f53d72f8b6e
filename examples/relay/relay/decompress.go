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

// maxWindow is how much memory a zstd frame may ask for: what its specification recommends decoders
// to support.
const maxWindow = 8 << 20

// Decompress returns the lines of a source that is plain, gzip or zstd: its first bytes say which.
// A plain file is returned as it is, so that an import can go on in its middle. The caller calls
// end when nothing reads the lines any more; it does not close the source.
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
