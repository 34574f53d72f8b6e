package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/internal/must"
)

func ExampleParse() {
	c, err := config.Parse("weir.yaml", []byte(`upstreams: {api: {addresses: ["http://10.0.0.1:9000"]}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.Listeners[0].Address, c.Routes[0].Pattern(), c.Routes[0].Upstream, c.Routes[0].Compartment)
	// Output: :8080 / api api
}

func ExampleConfig_Complete() {
	c := config.New[config.Config]()
	api := config.New[config.Upstream]()
	api.Addresses = []string{"http://10.0.0.1:9000"}
	api.Host = "a b"
	c.Upstreams = map[string]config.Upstream{"api": api}
	fmt.Println(c.Complete())
	// Output: upstreams.api.host is "a b": want a host such as api.internal, or one with a port
}

// TestFilesOfTheRepository: the files are valid and their limits accepted, except the files
// in bad, which also test the schema.
func TestFilesOfTheRepository(t *testing.T) {
	for pattern, valid := range map[string]bool{"testdata/good/*.yaml": true, "../../../../deploy/weir.yaml": true, "testdata/bad/*.yaml": false} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Errorf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			c, err := config.Load(file)
			if (err == nil) != valid {
				t.Errorf("%s: %v", file, err)
			}
			if valid && err == nil {
				if _, err := bulkhead.New(c.Bulkhead()); err != nil {
					t.Errorf("%s: %v", file, err)
				}
			}
		}
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	_, err := config.Load(dir + "/none")
	refused(t, err, dir+"/none: no such file or directory: want a file with a configuration")
	_, err = config.Load(dir)
	refused(t, err, dir+": is a directory: want a file with a configuration")
	long := write(t, "long", string(make([]byte, 1<<20+5)))
	_, err = config.Load(long)
	refused(t, err, long+": has 1048577 bytes: want 1048576 at most")
	locked := write(t, "locked", small)
	must.Do(t, os.Chmod(locked, 0))
	if _, err := os.ReadFile(locked); err != nil { // root can read it
		_, err = config.Load(locked)
		refused(t, err, locked+": permission denied: want a file with a configuration")
	}
}
