package storm_test

import (
	"encoding/json"
	"testing"

	"github.com/weir-go/weir/internal/storm"
)

func TestReadingsAreJSON(t *testing.T) {
	text := storm.Readings()
	if len(text) < storm.Stock || !json.Valid([]byte("["+string(text[:len(text)-1])+"]")) {
		t.Errorf("%d bytes: %.99s", len(text), text)
	}
	if part := storm.Part(text, 100); len(part) != 100 {
		t.Errorf("%d bytes", len(part))
	}
}
