package bulk_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/weir-go/weir/bulk"
)

func ExampleRun() {
	dir, err := os.MkdirTemp("", "import")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	source := strings.NewReader(`{"id":"a","name":"one"}
{"id":"b","name":"two"}
{"id":"c","na
`)

	var store sync.Map
	progress, err := bulk.Run(context.Background(), source, bulk.Config{
		Write: func(_ context.Context, l bulk.Line) error {
			var record struct{ ID, Name string }
			if err := json.Unmarshal(l.Text, &record); err != nil {
				return bulk.Reject(err) // this line only
			}
			store.Store(record.ID, record.Name) // by key, so that a line that comes twice is there once
			return nil
		},
		Journal: filepath.Join(dir, "journal"),
		Rejects: filepath.Join(dir, "rejects"),
	})
	fmt.Println(progress.Lines, "lines,", progress.Rejected, "rejected, error:", err)

	rejects, err := os.ReadFile(filepath.Join(dir, "rejects"))
	fmt.Print(string(rejects), err)
	// Output:
	// 3 lines, 1 rejected, error: <nil>
	// {"line":3,"byte":48,"error":"unexpected end of JSON input","text":"{\"id\":\"c\",\"na"}
	// <nil>
}

func ExampleReject() {
	_, err := bulk.Run(context.Background(), strings.NewReader("one\ntwo\n"), bulk.Config{
		Workers: 1,
		Write:   func(context.Context, bulk.Line) error { return bulk.Reject(fmt.Errorf("no number")) },
	})
	fmt.Println(err)
	// Output: bulk: line rejected: line 1, byte 0: no number: set Config.Rejects to keep it and go on
}

// table is a store that keeps marks beside the imported lines, here in memory.
type table struct{ rows, marks sync.Map }

func (t *table) put(_ context.Context, l bulk.Line) error {
	t.rows.Store(string(l.Text), true)
	return nil
}

func (t *table) Mark(_ context.Context, id string) (int64, error) {
	lines, _ := t.marks.Load(id)
	n, _ := lines.(int64) // 0 if there is none
	return n, nil
}

func (t *table) SetMark(_ context.Context, id string, lines int64) error {
	t.marks.Store(id, lines)
	return nil
}

func ExampleMarks() {
	dir, err := os.MkdirTemp("", "import")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	into := func(t *table) {
		progress, err := bulk.Run(context.Background(), strings.NewReader("one\ntwo\n"), bulk.Config{
			Write: t.put, Marks: t, Journal: filepath.Join(dir, "journal"),
		})
		fmt.Println(progress.Lines, "lines, another store:", errors.Is(err, bulk.ErrStore))
	}

	store := new(table)
	into(store)
	into(store)      // continues behind the last line
	into(new(table)) // the store was removed, and its journal was not
	// Output:
	// 2 lines, another store: false
	// 2 lines, another store: false
	// 0 lines, another store: true
}
