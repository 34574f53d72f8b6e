package bulk

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/weir-go/weir/internal/settings"
	"github.com/weir-go/weir/memory"
	"github.com/weir-go/weir/throttle"
)

var (
	// ErrConfig matches every error about a setting.
	ErrConfig = settings.ErrConfigOf("bulk")
	// ErrChanged is the error of an import whose source is not the source of the journal, or of
	// the file of rejects.
	ErrChanged = errors.New("bulk: not the source of the journal")
	// ErrStore is the error of an import whose store lacks lines of the journal. See [Marks].
	ErrStore = errors.New("bulk: not the store of the journal")
	// ErrRejected matches the error of a rejected line that stops the import.
	ErrRejected = errors.New("bulk: line rejected")
)

// Config configures [Run]. 0 always means the default; a value out of range is an error that names
// the field.
type Config struct {
	// Write writes one line and returns once the store has acknowledged it. Several workers call it
	// at once. An error from [Reject] rejects the line. Any other error stops the import, as does a
	// panic. Required.
	Write func(context.Context, Line) error

	// Workers is the number of lines written at once, up to 10,000. Defaults to 64.
	Workers int

	// MaxLine is the largest length of a line in bytes, up to 1 GiB. Longer lines are rejected.
	// Defaults to 16 MiB.
	MaxLine int

	// Memory bounds the bytes in flight. The caller calls its Run. A line that does not fit in the
	// reader's buffer of 1 MiB takes MaxLine bytes, because its length is unknown. Defaults to
	// none: then only Workers and MaxLine bound the memory.
	Memory *memory.Governor

	// Throttle paces the writes, at a cost of 1. The caller calls its Run. A refused line is
	// retried. Defaults to none.
	Throttle *throttle.Throttle

	// Journal is the path of the journal, which must differ from the path of the source. Only one
	// import may use it at a time. Defaults to none: each run imports the whole source.
	Journal string

	// Marks distinguish the store from another store, and from an older state of itself. They need
	// a Journal. Default to none: then Run believes the journal without asking the store.
	Marks Marks

	// Rejects is the path of the file to which rejected lines are appended, as JSON with line,
	// byte, error and text (data, in base64, if the text is no UTF-8). It must differ
	// from the path of the source. The lines are in order. With a journal, no line is in the file
	// twice. Defaults to none: a rejected line stops the import.
	Rejects string

	// Sync makes acknowledged lines durable, for a store that does not sync each write. It is
	// called up to five times a second, before each write of the journal, and at the end. Run waits
	// for Sync, also when the import stops. Defaults to none.
	Sync func() error

	// Size is the length of the source in bytes, for the estimate of the end. Defaults to the
	// length of the file, if the source is a file.
	Size int64

	// OnProgress, if set, is called once in each interval Every, and at the end. The journal waits
	// for the call, so keep it short.
	OnProgress func(Snapshot)
	// Every defaults to 1 s.
	Every time.Duration
}

const (
	defaultWorkers = 64 // best of 8 to 256: few lines in memory, and a full group commit
	maxWorkers     = 10_000
	defaultMaxLine = 16 << 20
	maxMaxLine     = 1 << 30
	endless        = 64 // times MaxLine: a longer line counts as endless
)

func (c Config) complete() (Config, error) {
	if c.Write == nil {
		return c, settings.Invalid(ErrConfig, "Write", "nil", "a function")
	}
	if c.Marks != nil && c.Journal == "" {
		return c, settings.Invalid(ErrConfig, "Journal", `""`, "a path, which Marks need")
	}
	err := cmp.Or(
		settings.DefaultUpTo(ErrConfig, "Workers", &c.Workers, defaultWorkers, maxWorkers),
		settings.DefaultUpTo(ErrConfig, "MaxLine", &c.MaxLine, defaultMaxLine, maxMaxLine),
		settings.NotNegative(ErrConfig, "Size", c.Size, "0 (the default) or more"),
		settings.Default(ErrConfig, "Every", &c.Every, time.Second),
	)
	return c, err
}

// checkFiles checks that the import does not write to its source, because rejects would become
// lines. It also checks that the import does not write its rejects to the journal, which exists, or
// to the file that replaces the journal.
func (c Config) checkFiles(source io.Reader) error {
	read := regular(source)
	switch {
	case c.Journal != "" && (isOf(read, c.Journal) || isOf(read, c.Journal+nextSuffix)):
		return settings.Invalid(ErrConfig, "Journal", strconv.Quote(c.Journal), "another file than the source")
	case isOf(read, c.Rejects):
		return settings.Invalid(ErrConfig, "Rejects", strconv.Quote(c.Rejects), "another file than the source")
	}
	rejects, _ := filepath.Abs(c.Rejects)
	next, _ := filepath.Abs(c.Journal + nextSuffix)
	if journal, err := os.Stat(c.Journal); err == nil && (isOf(journal, c.Rejects) || rejects == next) {
		return settings.Invalid(ErrConfig, "Rejects", strconv.Quote(c.Rejects), "another file than Journal")
	}
	return nil
}

// isOf reports whether a path leads to a file.
func isOf(file fs.FileInfo, name string) bool {
	at, err := os.Stat(name)
	return err == nil && file != nil && os.SameFile(file, at)
}

// A Line is a line of the source.
type Line struct {
	Number int64  // from 1
	Offset int64  // of its first byte in the source
	Text   []byte // without the end of the line; valid until Write returns
}

// Reject wraps an error that Write returns, so that it rejects the line instead of stopping the
// import. Reject(nil) is nil. While the import stops, no line is rejected, because its error may
// come from the end of the context. The next run writes the line again.
func Reject(err error) error {
	if err == nil {
		return nil
	}
	return rejection{err}
}

type rejection struct{ error }

func (r rejection) Unwrap() error { return r.error }

func (rejection) Is(target error) bool { return target == ErrRejected }
