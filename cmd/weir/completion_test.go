package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/longtest"
	"github.com/weir-go/weir/internal/must"
)

// TestMain runs the command itself if the test binary was started under the name weir.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "weir" {
		main()
	}
	os.Exit(m.Run())
}

func TestComplete(t *testing.T) {
	for _, test := range []struct {
		words string // separated by one blank
		want  string
	}{
		{"", "proxy check schema demo work enqueue jobs top record replay sim version completion help"},
		{"s", "schema sim"},
		{"record --token ", ":files"},
		{"sim ", "list run suite trace tune serve"},
		{"sim tr", "trace"},
		{"demo --d", "--duration"},
		{"demo bulkhead --", "--help --version --duration --open"},
		{"proxy --queue", "--queue --queue-timeout --queue-order"},
		{"proxy --queue-order ", "fifo adaptive"},
		{"proxy --queue-order=a", "--queue-order=adaptive"},
		{"proxy --queue-order = a", "adaptive"},
		{"proxy --queue-order =", "fifo adaptive"},
		{"proxy --law g", "gradient gradient2"},
		{"proxy --law=g", "--law=gradient --law=gradient2"},
		{"proxy --shadow --law v", "vegas"},
		{"proxy --min 3 --law v", "vegas"},
		{"proxy --config ", ":files"},
		{"proxy --config=we", "--config=:files"},
		{"proxy --to ", ""},
		{"proxy --bogus=", ""},
		{"check ", ":files"},
		{"sim run kat", "kata-2x kata :files"},
		{"sim run kata --law little kat", "kata-2x kata :files"},
		{"sim trace a.log --delimiter s", "semicolon space"},
		{"completion ", "bash zsh fish"},
		{"jobs ", "list requeue"},
		{"work --embedded ", ":files"},
		{"help l", "laws"},
		{"bogus ", "proxy check schema demo work enqueue jobs top record replay sim version completion help"},
	} {
		var got []string
		out := output(t, append([]string{"complete", "--"}, strings.Split(test.words, " ")...)...)
		for line := range strings.Lines(out) {
			word, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
			got = append(got, word)
		}
		if test.words == "proxy --config=we" {
			test.want = ":files" // file names are completed by the shell
		}
		if want := strings.Fields(test.want); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", test.words, got, want)
		}
	}
	contains(t, output(t, "complete", "--", "proxy", "--law", "s"), "setpoint\tholds the latency")
}

// inShell runs a script in a shell that finds this program on the PATH as weir, and returns
// the output.
func inShell(t *testing.T, shell, script string, args ...string) string {
	t.Helper()
	longtest.Skip(t)
	if _, err := exec.LookPath(shell); err != nil {
		t.Skipf("%s is not installed: scripts/shells install", shell)
	}
	self := must.Have(os.Executable())(t)
	bin := t.TempDir()
	must.Do(t, os.Symlink(self, filepath.Join(bin, "weir")))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, shell, append(args, script)...)
	cmd.Dir = "testdata"
	cmd.Env = []string{"PATH=" + bin + string(filepath.ListSeparator) + os.Getenv("PATH"), "HOME=" + t.TempDir(), "TERM=xterm"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", shell, err, out)
	}
	return string(out)
}

func TestCompletionOfBash(t *testing.T) {
	out := inShell(t, "bash", `
source <(weir completion bash)
complete -p weir
try() {
	COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
	_weir weir
	echo "$*: ${COMPREPLY[*]}"
}
try weir sim t
try weir sim run testdata-none tin
try weir proxy --law = grad
try weir proxy --queue-order a
try weir check tiny
`, "--norc", "-c")
	contains(t, out, "complete -F _weir weir\n", "weir sim t: trace tune\n", "weir sim run testdata-none tin: tiny.yaml\n",
		"weir proxy --law = grad: gradient gradient2\n", "weir proxy --queue-order a: adaptive\n", "weir check tiny: tiny.yaml\n")
}

func TestCompletionOfFish(t *testing.T) {
	out := inShell(t, "fish", `
weir completion fish | source
for line in 'weir sim t' 'weir proxy --law=grad' 'weir proxy --queue-order ' 'weir sim run tin' 'weir check tiny' 'weir help l'
	echo "$line:" (complete -C "$line" | string replace \t ' ~ ')
end
`, "--no-config", "-c")
	contains(t, out, "weir sim t: trace ~ Run laws on requests that were recorded. tune ~ Search", "weir proxy --law=grad: --law=gradient ~ goes by",
		"weir proxy --queue-order : adaptive fifo\n", "weir sim run tin: tiny.yaml", "weir check tiny: tiny.yaml", "weir help l: laws ~ the control laws")
}

// TestCompletionOfZsh types into a zsh inside another zsh, because completion needs a
// terminal.
func TestCompletionOfZsh(t *testing.T) {
	out := inShell(t, "zsh", `
zmodload zsh/zpty
zpty inner "PS1= zsh -f -i"
zpty -w inner 'autoload -Uz compinit && compinit -u -D && source <(weir completion zsh); unsetopt beep; zstyle ":completion:*" list-prompt ""; echo rea""dy'
zpty -r -m inner out '*ready*'
# Ctrl-A echo and Ctrl-E prints the line that Tab completed.
for line in 'weir sim tr' 'weir proxy --law=setp' 'weir proxy --queue-order ad' 'weir check tin' 'weir sim run tin' 'weir proxy --config=tin'; do
	zpty -n -w inner "$line"$'\t'$'\x01echo completed: \x05 :end\n'
	zpty -r -m inner out $'*\ncompleted: *:end*'
	print -r -- "${${out##*$'\n'completed: }%%:end*}"
done
zpty -d inner
`, "-f", "-c")
	contains(t, out, "weir sim trace ", "weir proxy --law=setpoint ", "weir proxy --queue-order adaptive ", "weir check tiny.yaml ", "weir sim run tiny.yaml ",
		"weir proxy --config=tiny.yaml ")
}
