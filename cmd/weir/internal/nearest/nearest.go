// Package nearest finds the name that someone may have meant.
package nearest

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
