package nearest

import "strings"

// Advice suggests a replacement for an unknown name: the most similar known name, or else all
// of them.
func Advice(name string, known []string) string {
	if meant := To(name, known); meant != "" {
		return "did you mean " + meant + "?"
	}
	return "want " + Alternatives(known)
}

// Alternatives joins words as in prose: "a, b or c".
func Alternatives(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// To returns the known name most similar to name, or "". At most two letters, and no more than half
// of the letters, may be wrong.
func To(name string, known []string) string {
	best, least := "", 3
	for _, k := range known {
		if d := distance(name, k); d < least && 2*d <= len(name) {
			best, least = k, d
		}
	}
	return best
}

// distance is the number of letters to add, remove or change to turn a into b.
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
