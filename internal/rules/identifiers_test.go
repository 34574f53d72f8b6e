package rules

import (
	"fmt"
	"go/ast"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The names in a span of code: a Go file, a path, a qualified name, a name.
var (
	goFile    = regexp.MustCompile(`^[\w/*]+\.go$`)
	pathName  = regexp.MustCompile(`^\w+(/\w+)+$`)
	qualified = regexp.MustCompile(`\b([A-Za-z]\w*)\.([A-Za-z]\w*)`)
	literal   = regexp.MustCompile(`"[^"]*"`)
	single    = regexp.MustCompile(`^\*?([A-Za-z]\w*)(\{\}|\(\))?$`)
	mixedCase = regexp.MustCompile(`[a-z][A-Z]|^[A-Z]\w*[a-z]`)

	version = regexp.MustCompile(`/v\d+$`)

	alert = regexp.MustCompile(`- alert: (\w+)`) // a Prometheus rule
)

// aboutCode lists the documents that also name unexported identifiers. In the others,
// lower-case names are laws, scenarios and metrics.
var aboutCode = []string{"ARCHITECTURE.md", "CONTRIBUTING.md"}

// A dictionary holds the declarations of the code.
type dictionary struct {
	words             map[string]bool            // all identifiers, including foreign ones
	members           map[string]map[string]bool // of a package, or of a type
	loose             map[string]bool            // fields, and types that embed others: they may have any member
	packages, foreign map[string]bool            // packages that users import, and foreign packages
	folders           map[string]bool
	files             []string
	fsys              fs.FS
}

// dictionary reads all sources, including tests: documents name them.
func (t *tree) dictionary() dictionary {
	d := dictionary{
		words:   map[string]bool{"By": true}, // OpenTelemetry's unit for bytes
		members: map[string]map[string]bool{}, loose: map[string]bool{},
		packages: map[string]bool{}, foreign: map[string]bool{}, folders: map[string]bool{}, files: t.paths, fsys: t.fsys,
	}
	for _, file := range t.sources {
		if !isProgram(file.dir) && !isInternal(file.dir) && !strings.HasPrefix(file.dir, "bench/") {
			d.packages[file.Name.Name] = true
		}
		d.files = append(slices.Clip(d.files), file.path)
		for _, name := range file.imported() {
			if !strings.HasPrefix(name, modulePath) {
				d.foreign[path.Base(version.ReplaceAllString(name, ""))] = true
			}
		}
		for node := range ast.Preorder(file.File) {
			d.declare(file, node)
			if name, ok := node.(*ast.Ident); ok {
				d.words[name.Name] = true
			}
		}
	}
	for _, name := range d.files {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			d.folders[dir] = true
		}
		if path.Base(name) == "alerts.yaml" {
			rules, _ := fs.ReadFile(t.fsys, name)
			for _, match := range alert.FindAllSubmatch(rules, -1) {
				d.words[string(match[1])] = true
			}
		}
	}
	return d
}

func (d dictionary) declare(file source, node ast.Node) {
	switch node := node.(type) {
	case *ast.FuncDecl:
		d.member(receiver(node), node.Name.Name)
		d.member(file.Name.Name, node.Name.Name)
	case *ast.ValueSpec:
		for _, name := range node.Names {
			d.member(file.Name.Name, name.Name)
		}
	case *ast.TypeSpec:
		d.member(file.Name.Name, node.Name.Name)
		d.member(node.Name.Name, "")
		for inner := range ast.Preorder(node.Type) {
			if field, ok := inner.(*ast.Field); ok {
				d.field(node.Name.Name, field)
			}
		}
	}
}

func (d dictionary) member(of, name string) {
	if d.members[of] == nil {
		d.members[of] = map[string]bool{}
	}
	d.members[of][name] = true
}

// field adds the names of a field to its struct, or of a method to its interface.
func (d dictionary) field(of string, field *ast.Field) {
	for _, name := range field.Names {
		d.member(of, name.Name)
		d.loose[name.Name] = true
	}
	if len(field.Names) == 0 {
		d.loose[of] = true
	}
}

// missing returns the names in a span of code that the repository does not have. dirs are
// the folders named in its line.
func (d dictionary) missing(code string, dirs []string, lower bool) (wrong []string) {
	if goFile.MatchString(code) {
		if !slices.ContainsFunc(d.files, func(name string) bool { return sameFile(code, name, dirs) }) {
			wrong = append(wrong, code)
		}
		return wrong
	}
	if pathName.MatchString(code) {
		if first, _, _ := strings.Cut(code, "/"); d.folders[first] && !d.exists(code) {
			wrong = append(wrong, code)
		}
		return wrong
	}
	for _, match := range qualified.FindAllStringSubmatch(literal.ReplaceAllString(code, ""), -1) {
		if of, name := match[1], match[2]; (ast.IsExported(name) || lower && match[0] == code) && !d.has(of, name, lower) {
			wrong = append(wrong, match[0])
		}
	}
	if match := single.FindStringSubmatch(code); match != nil && (lower || mixedCase.MatchString(match[1])) && !d.knows(match[1]) {
		wrong = append(wrong, match[1])
	}
	return wrong
}

// sameFile reports whether a pattern of a document matches the file: a pattern without a
// folder matches in the root or in the folders named in the line, or anywhere if the line
// names none.
func sameFile(pattern, name string, dirs []string) bool {
	if strings.Contains(pattern, "/") {
		ok, _ := path.Match(pattern, name)
		return ok
	}
	return path.Base(name) == pattern && (len(dirs) == 0 || path.Dir(name) == "." || slices.Contains(dirs, path.Dir(name)))
}

// has reports whether the package, the type or the variable has the member. A variable may
// be of any type; only documents about code refer to unexported types.
func (d dictionary) has(of, name string, lower bool) bool {
	members := d.members[of]
	if !lower && !ast.IsExported(of) && !d.packages[of] {
		members = nil
	}
	if members == nil || d.loose[of] {
		return d.words[name] || d.foreign[of]
	}
	return members[name]
}

func (d dictionary) exists(name string) bool {
	_, err := fs.Stat(d.fsys, name)
	return err == nil
}

func (d dictionary) knows(name string) bool {
	return d.words[name] || d.foreign[name] || d.folders[name]
}

// documentedNames demands that names shown as code in a document exist. Decisions and the
// changelog describe the past.
func documentedNames(t *tree) (complaints []string) {
	d := t.dictionary()
	for _, name := range t.paths {
		if path.Ext(name) != ".md" || name == "CHANGELOG.md" || strings.HasPrefix(name, "docs/decisions/") {
			continue
		}
		text, _ := fs.ReadFile(t.fsys, name)
		for i, line := range strings.Split(string(text), "\n") {
			spans := span.FindAllString(line, -1)
			for _, code := range spans {
				for _, wrong := range d.missing(strings.Trim(code, "`"), d.dirs(spans), slices.Contains(aboutCode, name)) {
					complaints = append(complaints, fmt.Sprintf("%s:%d: there is no %s: say what it is called now", name, i+1, wrong))
				}
			}
		}
	}
	return complaints
}

// dirs returns the folders that a line names, by themselves or before a file.
func (d dictionary) dirs(spans []string) (dirs []string) {
	for _, code := range spans {
		code = strings.Trim(code, "`")
		if dir := path.Dir(code); goFile.MatchString(code) && dir != "." {
			dirs = append(dirs, dir)
		} else if d.folders[code] {
			dirs = append(dirs, code)
		}
	}
	return dirs
}

// receiver returns the name of the type of a method; for a function, the exported
// placeholder "Func".
func receiver(decl *ast.FuncDecl) string {
	if decl.Recv == nil {
		return "Func"
	}
	for node := range ast.Preorder(decl.Recv.List[0].Type) {
		if name, ok := node.(*ast.Ident); ok {
			return name.Name
		}
	}
	return ""
}

func TestDocumentedNamesExist(t *testing.T) {
	holds(t, documentedNames)
	complains(t, documentedNames,
		[]string{
			"ARCHITECTURE.md:2: there is no gone.go", "ARCHITECTURE.md:2: there is no a.go", "ARCHITECTURE.md:3: there is no Node.gone",
			"ARCHITECTURE.md:3: there is no acquireGone", "ARCHITECTURE.md:4: there is no law/gone", "README.md:1: there is no law.Gone",
			"README.md:1: there is no Band.Gone", "README.md:2: there is no MaxGone", "README.md:2: there is no set.Gone", "README.md:3: there is no WeirGone",
		},
		"ARCHITECTURE.md", "`law/a.go`, `law`: `a.go`, `law/*.go`, `b.go`\n`gone.go`, `load`: `a.go`\n`Node.mu`, `Node.gone`, `acquireGone`, `acquire`\n`law/gone`, `law/a`, `load`\n",
		"README.md", "`law.Gone{Max: 3}`, `law.Band{}`, `Band.Gone`, `Band.Max`, `http.Gone`, `setpoint`\n`MaxGone`, `set.Gone`, `set.Close()`, `GONE`, `go test ./gone`\n`WeirStuck`, `WeirGone`\n",
		"deploy/alerts.yaml", "rules:\n  - alert: WeirStuck\n",
		"CHANGELOG.md", "`law.Gone`", "docs/decisions/0001.md", "`law.Gone`",
		"b.go", "package weir\nimport \"net/http\"\n", "load/b.go", "package load\n",
		"law/a.go", "package law\ntype Band struct { Max int }\ntype Node struct { mu int }\ntype set int\nfunc acquire() { x.Close() }", "law/a/a.go", "package a")
}

// asLink matches a link of a doc comment to a name.
var asLink = regexp.MustCompile(`\B\[\*?(?:([a-z]\w*)\.)?([A-Z]\w*)(?:\.([A-Z]\w*))?\][^(:]`)

// linked demands that comments link to names that exist. A link to another one shows its brackets.
func linked(t *tree) (complaints []string) {
	d := t.dictionary()
	for _, file := range t.sources {
		if file.test {
			continue
		}
		for _, group := range file.Comments {
			for _, comment := range group.List {
				if strings.HasPrefix(comment.Text, "//\t") {
					continue
				}
				for _, link := range asLink.FindAllStringSubmatch(comment.Text+" ", -1) {
					of, name, member := link[1], link[2], link[3]
					if of == "" {
						of = file.Name.Name
					}
					if !d.foreign[of] && (!d.members[of][name] || member != "" && !d.has(name, member, true)) {
						complaints = append(complaints, fmt.Sprintf("%s: a comment links to %s, which is no exported name: "+
							"link to one, or leave out the brackets", t.at(comment), link[0][:len(link[0])-1]))
					}
				}
			}
		}
	}
	return complaints
}

func TestDocLinksLeadToNames(t *testing.T) {
	holds(t, linked)
	complains(t, linked, []string{"law/law.go:1: a comment links to [Gone]", "law/law.go:4: a comment links to [Law.Gone]", "law/law.go:4: a comment links to [law.Gone]"},
		"law/law.go", "// Package law has a [Law] and a [Gone].\npackage law\nimport \"time\"\n// A Law has [Law.Next], [time.Time], [Law.Gone] and [law.Gone].\n"+
			"//\n//\t[Code] is none\ntype Law struct{}\n\n// Next is next.\nfunc (Law) Next() {}\n")
}
