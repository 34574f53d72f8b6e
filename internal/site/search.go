package main

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"strings"

	"golang.org/x/net/html"
)

// origin is where the site is published.
const origin = "https://weir-go.github.io"

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

// description is the first paragraph of a page, cut at a word.
func (p *page) description() string {
	const most = 160 // characters that search engines show
	root, err := html.Parse(strings.NewReader(string(p.Body)))
	if err != nil {
		return ""
	}
	for n := range root.Descendants() {
		if n.Data == "p" && n.Type == html.ElementNode && said(n) != "" {
			text := said(n)
			if len(text) <= most {
				return text
			}
			text = strings.ToValidUTF8(text[:most], "")
			if i := strings.LastIndexByte(text, ' '); i > 0 {
				text = text[:i]
			}
			return text + " ..."
		}
	}
	return ""
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

// sitemap lists the pages for search engines: https://www.sitemaps.org/protocol.html.
func (s *site) sitemap() ([]byte, error) {
	type address struct {
		Loc string `xml:"loc"`
	}
	list := struct {
		XMLName xml.Name  `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 urlset"`
		Pages   []address `xml:"url"`
	}{}
	for _, p := range s.pages {
		list.Pages = append(list.Pages, address{origin + s.base + p.Path})
	}
	text, err := xml.Marshal(list)
	return append([]byte(xml.Header), text...), err
}
