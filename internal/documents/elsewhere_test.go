package documents

import (
	"regexp"
	"strings"
)

// elsewhere lists the commands that the tests here do not run, and where they run. For all of
// them, internal/rules checks that the tests, packages, flags and files that they name exist.
var elsewhere = []struct {
	command *regexp.Regexp
	where   string
}{
	{regexp.MustCompile(`^go (-C \S+ )?(test|tool|vet) |^\.ci/run|^scripts/(databases|proxies|tidy)|^go run \./internal/check/mutants`), "the gate"},
	{regexp.MustCompile(`^scripts/(release|first-build|first-look)|^go (-C \S+ )?(get|install) |^git clone|^go run \./internal/release`), "TestRelease of internal/release, with a module proxy of its own"},
	{regexp.MustCompile(`^go mod `), "TestReplace of internal/release"},
	{regexp.MustCompile(`^weir (record|replay|sim trace) .*(incident\.jsonl|--limiter search)`), "TestRecordWritesAFileThatOpens, TestReplayOpensARecording and TestRecordingIsATrace of cmd/weir"},
	{regexp.MustCompile(`^weir sim trace (access\.log|llm\.csv|requests\.csv) .*(--choose|--on|--service duration)`), "TestTracesPage of cmd/weir, which compares what they print"},
	{regexp.MustCompile(`^go run \./examples/(import|relay)`), "the tests of these examples, which are killed and go on"},
	{regexp.MustCompile(`^go build -o weir `), "here, before all others"},
	{regexp.MustCompile(`^openssl |^change|^curl -s -H|^seq |^xargs |^sort|^uniq|^curl .*(/orders|/limit)`), "by hand: they need a file in /etc, or the program of the page under load"},
}

// runsElsewhere returns where a command runs, or "" if it runs here.
func runsElsewhere(c Command) (where string) {
	text := strings.Join(c.Words, " ")
	for _, e := range elsewhere {
		if e.command.MatchString(text) {
			return e.where
		}
	}
	return ""
}
