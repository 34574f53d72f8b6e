// Package yamladvice adds advice to errors of YAML parsers.
package yamladvice

import "strings"

// To returns the complaint of a parser with advice.
func To(complaint string) string {
	if strings.Contains(complaint, `'`+"\t"+`'`) {
		return "a line begins with a tab: want blanks"
	}
	return complaint + ": want lines of the same list or object to begin in the same column, and each bracket and quote to have an end"
}
