package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"golang.org/x/net/html"
)

// An entry of the search is a part of a page: what is below a heading, or below the definition of a
// name. The keys are short because there are thousands.
type entry struct {
	Page    string `json:"p"` // path below the base
	Title   string `json:"t"` // of the page
	Anchor  string `json:"a"`
	Heading string `json:"h"`
	Text    string `json:"x"`
}

// entries splits the body of a page at its headings and names.
func (p *page) entries() ([]entry, error) {
	root, err := html.Parse(strings.NewReader(string(p.Body)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.Path, err)
	}
	all := []entry{{Page: p.Path, Title: p.Title, Heading: p.Title}}
	for n := range root.Descendants() {
		if id := attr(n, "id"); id != "" && n.Data != "h1" && strings.HasPrefix(n.Data, "h") {
			all = append(all, entry{Page: p.Path, Title: p.Title, Anchor: id, Heading: strings.TrimSuffix(said(n), " #")})
		}
		if n.Type == html.TextNode && !within(n, "h1", "h2", "h3", "h4", "style") {
			last := &all[len(all)-1]
			last.Text = strings.TrimSpace(last.Text + " " + strings.Join(strings.Fields(n.Data), " "))
		}
	}
	return all, nil
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func within(n *html.Node, tags ...string) bool {
	for parent := range n.Ancestors() {
		for _, tag := range tags {
			if parent.Type == html.ElementNode && parent.Data == tag {
				return true
			}
		}
	}
	return false
}

func said(n *html.Node) string {
	var b strings.Builder
	for n := range n.Descendants() {
		if n.Type == html.TextNode {
			b.WriteString(n.Data)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// searchIndex is what site/site.js searches.
func (s *site) searchIndex() ([]byte, error) {
	var all []entry
	for _, p := range s.pages {
		entries, err := p.entries()
		if err != nil {
			return nil, err
		}
		all = append(all, entries...)
	}
	return json.Marshal(all)
}
