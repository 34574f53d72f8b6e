// Package yamladvice says what to do about text that is no YAML.
package yamladvice

import "strings"

// To returns the complaint of a parser with what to do about it.
func To(complaint string) string {
	if strings.Contains(complaint, `'`+"\t"+`'`) {
		return "a line begins with a tab: want blanks"
	}
	return complaint + ": want lines of the same list or object to begin in the same column, and each bracket and quote to have an end"
}
