package pages

import (
	"path/filepath"
	"strconv"
	"strings"
)

// mapping is a range of addresses at which a file is mapped shared.
type mapping struct{ from, to uint64 }

// mappings returns the mappings of the files that match a pattern, from the text of
// /proc/self/maps:
//
//	7f1c2a000000-7f1c2a200000 rw-s 00000000 fe:00 131 /data/000012.sst
func mappings(maps string, patterns []string) (found []mapping) {
	for line := range strings.Lines(maps) {
		words := strings.Fields(line)
		if len(words) < 6 || !strings.HasSuffix(words[1], "s") {
			continue
		}
		path := strings.TrimSuffix(line[strings.Index(line, words[5]):], "\n") // it may have spaces
		from, to, ok := strings.Cut(words[0], "-")
		if !ok || !matches(patterns, path) {
			continue
		}
		first, err := strconv.ParseUint(from, 16, 64)
		last, err2 := strconv.ParseUint(to, 16, 64)
		if err == nil && err2 == nil && first < last {
			found = append(found, mapping{first, last})
		}
	}
	return found
}

func matches(patterns []string, path string) bool {
	for _, pattern := range patterns {
		if ok, _ := filepath.Match(pattern, path); ok {
			return true
		}
	}
	return false
}
