package simulate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/weir-go/weir/sim"
)

// ReadScores reads files of one JSON object a line, each a [sim.Score] of a limiter that was run
// elsewhere.
func ReadScores(files []string) (all []sim.Score, err error) {
	for _, name := range files {
		scores, err := readScores(name)
		if err != nil {
			return nil, err
		}
		all = append(all, scores...)
	}
	return all, nil
}

func readScores(name string) (scores []sim.Score, err error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines := json.NewDecoder(file)
	lines.DisallowUnknownFields()
	for n := 1; ; n++ {
		var score sim.Score
		err := lines.Decode(&score)
		switch {
		case errors.Is(err, io.EOF) && n == 1:
			return nil, fmt.Errorf("%s: has no scores: want lines as weir sim suite --json prints them", name)
		case errors.Is(err, io.EOF):
			return scores, nil
		case err != nil:
			return nil, fmt.Errorf("%s: score %d: %w", name, n, err)
		case score.Scenario == "" || score.Law == "":
			return nil, fmt.Errorf("%s: score %d has no scenario or no law: want lines as weir sim suite --json prints them", name, n)
		}
		scores = append(scores, score)
	}
}
