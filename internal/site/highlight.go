package main

import (
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
)

// highlight writes highlighted code, or plain code if the language is unknown.
func highlight(w io.Writer, language, code string) error {
	tokens := []chroma.Token{{Value: code}}
	if lexer := lexers.Get(language); lexer != nil {
		found, err := chroma.Coalesce(lexer).Tokenise(nil, code)
		if err != nil {
			return err
		}
		tokens = found.Tokens()
	}
	var b strings.Builder
	for _, token := range tokens {
		said := html.EscapeString(token.Value)
		if class := class(token.Type); class != "" {
			said = fmt.Sprintf(`<span class="%s">%s</span>`, class, said)
		}
		b.WriteString(said)
	}
	_, err := fmt.Fprintf(w, `<pre role="group" aria-label="Code" tabindex="0"><code>%s</code></pre>`+"\n", strings.TrimRight(b.String(), "\n"))
	return err
}

// class is the class of a token that site/style.css colours. Few have one.
func class(of chroma.TokenType) string {
	switch {
	case of.InCategory(chroma.Keyword):
		return "k"
	case of.InSubCategory(chroma.LiteralString):
		return "s"
	case of.InSubCategory(chroma.LiteralNumber):
		return "m"
	case of.InCategory(chroma.Comment):
		return "c"
	case of == chroma.NameTag || of == chroma.NameAttribute:
		return "n"
	}
	return ""
}
