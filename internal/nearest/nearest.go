package nearest

import "strings"

// Advice says what to write instead of a name that is none of the known: the one that is like it,
// otherwise any of them.
func Advice(name string, known []string) string {
	if meant := To(name, known); meant != "" {
		return "did you mean " + meant + "?"
	}
	return "want " + Alternatives(known)
}

// Alternatives joins words as prose does: "a, b or c".
func Alternatives(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// To returns the known name that is like name, empty if none is: at most two letters of it are
// wrong, and not more than half.
func To(name string, known []string) string {
	best, least := "", 3
	for _, k := range known {
		if d := distance(name, k); d < least && 2*d <= len(name) {
			best, least = k, d
		}
	}
	return best
}

// distance is how many letters must be added, removed or changed to make a into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			changed := diagonal
			if a[i] != b[j] {
				changed++
			}
			diagonal = row[j+1]
			row[j+1] = min(changed, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
