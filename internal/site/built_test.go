package main

import (
	"bytes"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/html"

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

// A file is an HTML file of the built site.
type file struct {
	size       int
	ids        map[string]bool
	links      []string // including its style and pictures
	loads      []string // resources that a browser fetches with the page
	duplicates []string
}

func parseFile(t *testing.T, text []byte) file {
	t.Helper()
	root := must.Have(html.Parse(bytes.NewReader(text)))(t)
	f := file{size: len(text), ids: map[string]bool{}}
	for n := range root.Descendants() {
		for _, a := range n.Attr {
			switch a.Key {
			case "id":
				if f.ids[a.Val] {
					f.duplicates = append(f.duplicates, a.Val)
				}
				f.ids[a.Val] = true
			case "href", "src", "srcset":
				f.links = append(f.links, a.Val)
				if n.Data != "a" {
					f.loads = append(f.loads, a.Val)
				}
			}
		}
	}
	return f
}

// readSite reads a built site: its HTML files by their addresses, and the sizes of all its files.
func readSite(t *testing.T, dir string) (pages map[string]file, sizes map[string]int) {
	t.Helper()
	pages, sizes = map[string]file{}, map[string]int{}
	must.Do(t, filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		address := base + strings.TrimSuffix(filepath.ToSlash(rel), "index.html")
		sizes[address] = len(text)
		if path.Ext(name) == ".html" {
			pages[address] = parseFile(t, text)
		}
		return err
	}))
	return pages, sizes
}

// broken lists the dead links of a page. It does not follow links to other sites.
func broken(from string, pages map[string]file, sizes map[string]int) (complaints []string) {
	for _, link := range pages[from].links {
		to, err := url.Parse(link)
		if err != nil {
			complaints = append(complaints, link+": "+err.Error())
			continue
		}
		if to.Scheme != "" || to.Host != "" {
			continue
		}
		target := from
		if to.Path != "" {
			target = to.Path
		}
		if _, ok := sizes[target]; !ok {
			complaints = append(complaints, link+": there is no such file")
		} else if to.Fragment != "" && !pages[target].ids[to.Fragment] {
			complaints = append(complaints, link+": there is no such anchor")
		}
	}
	return complaints
}

func TestLinksOfTheSiteLeadSomewhere(t *testing.T) {
	pages, sizes := readSite(t, builtSite(t).dir)
	if len(pages) < 80 {
		t.Errorf("%d pages: want a page for each document", len(pages))
	}
	for address, page := range pages {
		for _, complaint := range broken(address, pages, sizes) {
			t.Errorf("%s: %s", address, complaint)
		}
		for _, id := range page.duplicates {
			t.Errorf("%s: has two anchors %s", address, id)
		}
	}
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

func TestBrokenLinksAreFound(t *testing.T) {
	pages := map[string]file{
		"/a/": {links: []string{"/b/#there", "/b/#gone", "/gone/", "#here", "#gone", "https://example.com/gone", "/c.svg"}, ids: map[string]bool{"here": true}},
		"/b/": {ids: map[string]bool{"there": true}},
	}
	want := "/b/#gone: there is no such anchor\n/gone/: there is no such file\n#gone: there is no such anchor"
	if got := strings.Join(broken("/a/", pages, map[string]int{"/a/": 1, "/b/": 1, "/c.svg": 1}), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// mostBytes is the largest size of a page with all the resources that a browser loads for it at
// once. An animation is loaded when the reader comes to it, and may have mostAnimated bytes.
const (
	mostBytes    = 200_000
	mostAnimated = 500_000
)

func TestPagesAreLight(t *testing.T) {
	pages, sizes := readSite(t, builtSite(t).dir)
	heaviest, heavy := "", 0
	for address, page := range pages {
		size := page.size
		for _, part := range page.loads {
			if path.Ext(part) != ".gif" {
				size += sizes[part]
			} else if sizes[part] > mostAnimated {
				t.Errorf("%s: the animation %s has %d bytes, want at most %d", address, part, sizes[part], mostAnimated)
			}
		}
		if size > mostBytes {
			t.Errorf("%s: %d bytes with its style and pictures, want at most %d", address, size, mostBytes)
		}
		if size > heavy {
			heaviest, heavy = address, size
		}
	}
	t.Logf("the heaviest page is %s: %d bytes", heaviest, heavy)
}
