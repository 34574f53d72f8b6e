package bulk_test

import (
	"context"
	"encoding/json"
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
