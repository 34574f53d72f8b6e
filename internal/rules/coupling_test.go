package rules

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"slices"
	"strings"
	"testing"
)

// When the admission core was a single object, 42 pairs of its files used each other's
// unexported names (decision 0017).
const (
	core      = "internal/admit"
	mostPairs = 8
)

// pairsOfFiles counts the pairs of files of the core that use each other's unexported names:
// package-level ones, fields and methods.
func pairsOfFiles(t *tree) (complaints []string) {
	uses, err := t.usesBetweenFiles()
	if err != nil {
		return []string{core + ": " + err.Error()}
	}
	var pairs []string
	for _, use := range slices.SortedFunc(maps.Keys(uses), func(a, b fileUse) int {
		return cmp.Or(strings.Compare(a.of, b.of), strings.Compare(a.by, b.by))
	}) {
		if back := (fileUse{use.of, use.by}); use.by < use.of && uses[back] != nil {
			pairs = append(pairs, fmt.Sprintf("%s (%s) and %s (%s)", use.of, some(uses[use]), use.by, some(uses[back])))
		}
	}
	if len(pairs) > mostPairs {
		complaints = append(complaints, fmt.Sprintf("%s: in %d pairs of files each uses unexported names of the other, "+
			"at most %d are allowed: have one know the other, not both\n\t%s", core, len(pairs), mostPairs, strings.Join(pairs, "\n\t")))
	}
	return complaints
}

// A fileUse is one file that uses names of another.
type fileUse struct{ by, of string }

// some returns a few of the names.
func some(names map[string]bool) string {
	all := slices.Sorted(maps.Keys(names))
	return strings.Join(all[:min(len(all), 5)], " ")
}

// usesBetweenFiles returns the unexported names that the files of the core use of each
// other.
func (t *tree) usesBetweenFiles() (map[fileUse]map[string]bool, error) {
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: newChecker(t)}
	pkg, err := config.Check(modulePath+"/"+core, t.fset, t.files(core), info)
	if err != nil {
		return nil, err
	}
	uses := map[fileUse]map[string]bool{}
	for ident, obj := range info.Uses {
		if obj.Pkg() != pkg || obj.Exported() || !spansFiles(obj) {
			continue
		}
		use := fileUse{t.fset.Position(ident.Pos()).Filename, t.fset.Position(obj.Pos()).Filename}
		if use.by == use.of {
			continue
		}
		if uses[use] == nil {
			uses[use] = map[string]bool{}
		}
		uses[use][obj.Name()] = true
	}
	return uses, nil
}

// spansFiles reports whether other files can use the object: a package-level object, a field
// or a method.
func spansFiles(obj types.Object) bool {
	switch obj := obj.(type) {
	case *types.Var:
		return obj.IsField() || obj.Parent() == obj.Pkg().Scope()
	case *types.Func:
		return true
	}
	return obj.Parent() == obj.Pkg().Scope()
}

func TestFilesOfTheCoreKnowFewOthers(t *testing.T) {
	holds(t, pairsOfFiles)
	// Each of the files 0 to n-1 uses the one before and, except the last, the next.
	chain := func(n int) (files []string) {
		for i := range n {
			text := fmt.Sprintf("package admit; import _ %q; type t%d struct { f%d, F int }; func (t t%d) m%d() { var local int; _ = local", modulePath+"/law", i, i, i, i)
			if i > 0 {
				text += fmt.Sprintf("; t%d{}.m%d()", i-1, i-1)
			}
			if i < n-1 {
				text += fmt.Sprintf("; _ = t%d{}.f%d", i+1, i+1)
			}
			files = append(files, fmt.Sprintf("%s/f%02d.go", core, i), text+" }")
		}
		return append(files, "law/a.go", "package law")
	}
	complains(t, pairsOfFiles, []string{core + ": in 9 pairs of files each uses"}, chain(mostPairs+2)...)
	complains(t, pairsOfFiles, nil, chain(mostPairs+1)...)
}
