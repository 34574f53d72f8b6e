package main

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/weir-go/weir/internal/longtest"
	"github.com/weir-go/weir/internal/must"
)

// A built is the site of the repository in a folder, which no test changes.
type built struct {
	*site
	dir string
}

var buildOnce = sync.OnceValues(func() (b built, err error) {
	if b.site, err = load("../.."); err != nil {
		return b, err
	}
	if b.dir, err = os.MkdirTemp("", "weir-site-"); err != nil {
		return b, err
	}
	return b, b.write(b.dir)
})

func TestMain(m *testing.M) {
	status := m.Run()
	if longtest.All() {
		b, _ := buildOnce() // a test has failed if there was an error
		_ = os.RemoveAll(b.dir)
	}
	os.Exit(status)
}

// builtSite builds the site, for all tests that use it together.
func builtSite(t *testing.T) built {
	t.Helper()
	longtest.Skip(t)
	return must.Have(buildOnce())(t)
}

// TestLinksOfOtherDocuments: documents that are no pages lead somewhere too.
func TestLinksOfOtherDocuments(t *testing.T) {
	s := must.Have(load("../.."))(t)
	for _, pattern := range []string{"*.md", ".github/*.md", "*/*/*.md"} {
		for _, file := range must.Have(s.files(pattern))(t) {
			if s.byFile[file] == nil {
				p := &page{File: file, markdown: must.Have(os.ReadFile(filepath.Join(s.root, file)))(t), anchors: map[string]bool{}}
				p.parse()
				s.byFile[file] = p
				if err := s.render(p); err != nil {
					t.Error(err)
				}
			}
		}
	}
}
