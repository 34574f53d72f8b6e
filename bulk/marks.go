package bulk

import (
	"context"
	"fmt"
)

// Marks are kept by a store in itself, such as under keys of their own, or in a table of two
// columns. A mark says how many lines of an import the store has. The journal has the same number,
// so that a store that was removed, another one and an older state of this one differ from it.
//
// A mark is set after the lines up to it are acknowledged, before [Config].Sync, and before the
// journal is written. So a store that has the mark has the lines, if it keeps its writes in order,
// as a backup of one instant does. The marks do not notice that a store lost single records later,
// or that a user deleted them.
type Marks interface {
	// Mark returns the mark of the import with an id, 0 if there is none.
	Mark(ctx context.Context, id string) (lines int64, err error)
	// SetMark sets it. The id is 26 letters and digits, chosen at random when an import begins
	// without a journal. Each has its own mark, so that several imports into a store are apart.
	SetMark(ctx context.Context, id string, lines int64) error
}

// checkStore checks that the store has the lines of the journal.
func (c Config) checkStore(ctx context.Context, from state) error {
	if c.Marks == nil || from.Lines == 0 {
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
		"open the store of the journal, or remove the journal to import all lines again", ErrStore, c.Journal, from.Lines, max(has, 0))
}

// setMark sets the mark. It may take as long as a write, also while the import stops.
func (r *run) setMark(lines int64) error {
	if r.conf.Marks == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), farewell)
	defer cancel()
	if err := guarded(func() error { return r.conf.Marks.SetMark(ctx, r.id, lines) }); err != nil {
		return fmt.Errorf("bulk: Marks: %w", err)
	}
	return nil
}
