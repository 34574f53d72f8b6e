package simulate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/weir-go/weir/sim"
)

// Scores are scores of limiters that were run elsewhere.
type Scores map[request][]sim.Score

// request identifies the simulation of a score.
type request struct {
	scenario string
	seed     uint64
}

// Of returns the scores in a scenario under a seed, in the order in which they were read.
func (s Scores) Of(scenario string, seed uint64) []sim.Score { return s[request{scenario, seed}] }

// ReadScores reads files of one JSON object a line, each a [sim.Score].
func ReadScores(files []string) (Scores, error) {
	all := Scores{}
	for _, name := range files {
		if err := all.read(name); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (s Scores) read(name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	lines := json.NewDecoder(file)
	lines.DisallowUnknownFields()
	for n := 1; ; n++ {
		var score sim.Score
		err := lines.Decode(&score)
		switch {
		case errors.Is(err, io.EOF) && n == 1:
			return fmt.Errorf("%s: has no scores: want lines as weir sim suite --json prints them", name)
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("%s: score %d: %w", name, n, err)
		case score.Scenario == "" || score.Law == "":
			return fmt.Errorf("%s: score %d has no scenario or no law: want lines as weir sim suite --json prints them", name, n)
		}
		of := request{score.Scenario, score.Seed}
		s[of] = append(s[of], score)
	}
}
