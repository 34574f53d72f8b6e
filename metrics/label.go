package metrics

import "github.com/weir-go/weir/internal/label"

// MaxLabel is how many bytes the value of a label has at most.
const MaxLabel = 128

func clean(text string) string { return label.Clean(text) }
