package gen

import "strings"

// words are short, some with multi-byte letters and with characters that JSON escapes.
var words = strings.Fields(`the of and to in is that it for was on are as with they at be this have from or had by hot word but what
	some we can out other were all there when up use your how said an each she which do their time if will way about many then
	them write would like so these her long make thing see him two has look more day could go come did number sound no most
	people my over know water than call first who may down side been now find relay note signal café Zürich naïve こんにちは привет
	"quoted" https://example.com/path?query=1 C:\temp 🙂 🚀`)

func (g *Generator) word() string { return words[g.random.IntN(len(words))] }

func (g *Generator) text(count int) string {
	var b strings.Builder
	for i := range count {
		switch {
		case i == 0:
		case g.random.IntN(30) == 0:
			b.WriteString(".\n")
		case g.random.IntN(12) == 0:
			b.WriteString(", ")
		default:
			b.WriteByte(' ')
		}
		b.WriteString(g.word())
	}
	return b.String()
}
