package bulk

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// state is the content of the journal: one line of JSON.
type state struct {
	Version     int    `json:"version"`
	Import      string `json:"import"` // the id under which the store keeps the mark
	mark               // the end of the last line up to which all lines are acknowledged
	Rejected    int64  `json:"rejected"`     // the number of these lines that were rejected
	Rejects     int64  `json:"rejects_size"` // the size of the file of rejects with these lines
	RejectsName string `json:"rejects"`      // the path of that file from the folder of the journal
}

const (
	nextSuffix     = ".next" // of the file that replaces a journal
	journalVersion = 1
	mostJournal    = 4 << 10 // bytes: a file named by mistake may be larger than the memory
)

// makeJournal returns the path of a journal behind all links: a file that replaces the journal
// would replace a link to it. It makes an empty journal if there is none.
func makeJournal(name string) (string, error) {
	if name == "" {
		return "", nil
	}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err == nil {
		f.Close()
		name, err = filepath.EvalSymlinks(name)
	}
	if err != nil {
		return "", fmt.Errorf("bulk: journal: %w", err)
	}
	return name, nil
}

// readJournal returns the state of a journal. An empty journal is the journal of an import which
// begins.
func readJournal(name string) (s state, err error) {
	if name == "" {
		return state{}, nil
	}
	text, err := readBeginning(name)
	if err != nil {
		return state{}, fmt.Errorf("bulk: journal: %w", err)
	}
	if len(text) == 0 {
		return state{Import: rand.Text()}, nil
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return state{}, fmt.Errorf("bulk: %s is no journal: %w: name another file, or remove it to start anew", name, err)
	}
	if s.Version != journalVersion || s.Lines < 0 {
		return state{}, fmt.Errorf("bulk: %s is no journal of version %d: %q: name another file, or remove it to start anew", name, journalVersion, text)
	}
	return s, nil
}

// readBeginning reads a file, up to the largest size of a journal.
func readBeginning(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, mostJournal))
}

// writeJournal replaces the journal. If the process is killed meanwhile, the old or the new journal
// is there.
func writeJournal(name string, s state) error {
	if name == "" {
		return nil
	}
	text, err := json.Marshal(s)
	if err == nil {
		err = writeFile(name+nextSuffix, append(text, '\n'))
	}
	if err == nil {
		err = os.Rename(name+nextSuffix, name)
	}
	if err != nil {
		return fmt.Errorf("bulk: journal: %w", err)
	}
	return nil
}

// writeFile writes a file and syncs it to disk.
func writeFile(name string, text []byte) (err error) {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.Write(text); err != nil {
		return err
	}
	return f.Sync()
}

// Marks let a store keep the mark of each import in itself, such as under a key of its own, or in a
// table of two columns. A mark is the number of lines of an import that the store has. The journal
// has the same number, so that an empty store, another store and an older state of this store
// differ from it.
//
// Run sets a mark after the lines up to it are acknowledged, before [Config].Sync, and before it
// writes the journal. So a store that has the mark has the lines, if it keeps its writes in order,
// as a backup of one instant does. The marks do not notice that a store lost single records later,
// or that a user deleted them.
type Marks interface {
	// Mark returns the mark of the import with an id, 0 if there is none.
	Mark(ctx context.Context, id string) (lines int64, err error)
	// SetMark sets the mark. The id is 26 letters and digits, chosen at random when an import
	// begins without a journal. Each import has its own mark, so that several imports into a store
	// do not mix.
	SetMark(ctx context.Context, id string, lines int64) error
}

// checkStore checks that the store has the lines of the journal.
func (c Config) checkStore(ctx context.Context, from state) error {
	if c.Marks == nil {
		return nil
	}
	var has int64
	err := guarded(func() (err error) {
		has, err = c.Marks.Mark(ctx, from.Import)
		return err
	})
	if err != nil {
		return fmt.Errorf("bulk: Marks: %w", err)
	}
	if has >= from.Lines {
		return nil
	}
	return fmt.Errorf("%w: %s says that %d lines are in, and the store's mark says %d: it is another store or an older one, or its marks were not kept: "+
		"open the store of the journal, or remove the journal to import all lines again", ErrStore, c.Journal, from.Lines, has)
}

// setMark sets the mark. It may take as long as the writes that run when the import stops.
func (r *run) setMark(lines int64) error {
	if r.conf.Marks == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), farewell)
	defer cancel()
	if err := guarded(func() error { return r.conf.Marks.SetMark(ctx, r.kept.Import, lines) }); err != nil {
		return fmt.Errorf("bulk: Marks: %w", err)
	}
	return nil
}
