package main

import (
	"bytes"
	"cmp"
	"go/doc/comment"
	"path"
	"regexp"
	"slices"
	"strings"
)

// comment renders a package comment, with highlighted code and links to pages of the site
// where they exist. The level is that of its headings.
func (s *site) comment(p *goPackage, text string, level int) (markup, error) {
	printer := p.Printer()
	printer.HeadingLevel = level
	if level > 2 { // several declarations may have the same heading, and only one can be an anchor
		printer.HeadingID = func(*comment.Heading) string { return "" }
	}
	printer.DocLinkURL = func(link *comment.DocLink) string {
		importPath, id := link.ImportPath, link.Name
		importPath = cmp.Or(importPath, p.ImportPath)
		if link.Recv != "" {
			id = link.Recv + "." + id
		}
		if to := s.packagePage(importPath); to != nil && (id == "" || to.anchors[id]) {
			if importPath == p.ImportPath && id != "" {
				return "#" + id
			}
			return strings.TrimSuffix(s.base+to.Path+"#"+id, "#")
		}
		return link.DefaultURL("https://pkg.go.dev")
	}
	var b bytes.Buffer
	parsed := p.Parser().Parse(text)
	for _, block := range parsed.Content {
		if code, ok := block.(*comment.Code); ok {
			if err := highlight(&b, "go", code.Text); err != nil {
				return "", err
			}
			continue
		}
		b.Write(printer.HTML(&comment.Doc{Content: []comment.Block{block}, Links: parsed.Links}))
	}
	return markup(b.String()), nil
}

func (s *site) packagePage(importPath string) *page {
	rest, ours := strings.CutPrefix(importPath, modulePath)
	if !ours {
		return nil
	}
	return s.byFile[strings.TrimPrefix(rest+"/doc.go", "/")]
}

// mostGuides is the largest number of guides that the page of a package lists: all limiters
// need package weir, so every guide uses it.
const mostGuides = 5

// guides returns the pages that use a package, most uses first.
func (s *site) guides(p *goPackage) (guides []*page) {
	uses := regexp.MustCompile(`\b` + p.Name + `\.[A-Z]`)
	count := map[*page]int{}
	for _, page := range s.pages {
		if path.Dir(page.file) != "docs" {
			continue
		}
		if count[page] = len(uses.FindAll(page.markdown, -1)); count[page] > 0 {
			guides = append(guides, page)
		}
	}
	slices.SortStableFunc(guides, func(a, b *page) int { return count[b] - count[a] })
	return guides[:min(len(guides), mostGuides)]
}
