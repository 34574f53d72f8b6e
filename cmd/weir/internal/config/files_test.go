package config_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/internal/certstest"
	"github.com/weir-go/weir/internal/must"
)

// newPair creates a certificate and a key and returns their path without .pem and .key.
func newPair(t *testing.T) string {
	t.Helper()
	path := t.TempDir() + "/pair"
	certstest.New(t).Write("pair", path+".pem", path+".key")
	return path
}

func TestFiles(t *testing.T) {
	one, other, empty := newPair(t), newPair(t), write(t, "empty", "")
	token := write(t, "token", "0123456789abcdef\n")
	whole := string(must.Have(os.ReadFile(one + ".pem"))(t))
	cut := write(t, "cut", whole+whole[:len(whole)-5])
	fill := strings.NewReplacer("CUT", cut, "ONE", one, "OTHER", other, "EMPTY", empty, "TOKEN", token, "SHORT", write(t, "short", "0123456789abcde\n"), "LONG", write(t, "long", strings.Repeat("x", 5000)), "WORDS", write(t, "words", "several words and no token"), "DIR", t.TempDir())
	for _, test := range []struct{ text, want string }{
		{"listeners: [{tls: {certificate: ONE.pem, key: ONE.key, client_ca: OTHER.pem}}]", ""},
		{"listeners: [{tls: {certificate: ONE.pem, key: OTHER.key}}]", `listeners[0].tls has "ONE.pem" and "OTHER.key", which are no pair: tls: private key does not match public key`},
		{"listeners: [{tls: {certificate: ONE.pem, key: none}}]", `listeners[0].tls.key is "none": no such file or directory: want a file in PEM`},
		{"listeners: [{tls: {certificate: none, key: ONE.key}}]", `listeners[0].tls.certificate is "none": no such file or directory: want a file in PEM`},
		{"listeners: [{tls: {certificate: ONE.pem, key: EMPTY}}]", `listeners[0].tls has "ONE.pem" and "EMPTY", which are no pair: tls: failed to find any PEM data in key input`},
		{"listeners: [{tls: {key: ONE.key}}]", `listeners[0].tls.certificate is missing: want a text`},
		{"listeners: [{tls: {certificate: ONE.pem, key: ONE.key, client_ca: EMPTY}}]", `listeners[0].tls.client_ca is "EMPTY": want a file with certificates in PEM, the last one whole`},
		{"listeners: [{tls: {certificate: ONE.pem, key: ONE.key, client_ca: CUT}}]", `listeners[0].tls.client_ca is "CUT": want a file with certificates in PEM, the last one whole`},
		{"listeners: [{tls: {certificate: ONE.pem, key: ONE.key, client_ca: none}}]", `listeners[0].tls.client_ca is "none": no such file or directory: want a file in PEM`},
		{"admin: {address: ':1', token: TOKEN}", ""},
		{"admin: {token: none}", `admin.token is "none": no such file or directory: want a file with a token`},
		{"admin: {token: SHORT}", `admin.token is "SHORT": want one line of 16 to 4096 characters without spaces, such as openssl rand -hex 32 writes`},
		{"admin: {token: LONG}", `admin.token is "LONG": want one line of 16 to 4096 characters without spaces, such as openssl rand -hex 32 writes`},
		{"admin: {token: EMPTY}", `admin.token is "EMPTY": want one line of 16 to 4096 characters without spaces, such as openssl rand -hex 32 writes`},
		{"admin: {token: WORDS}", `admin.token is "WORDS": want one line of 16 to 4096 characters without spaces, such as openssl rand -hex 32 writes`},
		{"buffers: {file: 1GiB, directory: DIR}", ""},
		{"state: DIR/state.json", ""},
		{"state: none/state.json", `state is "none/state.json": want a file in a directory that exists`},
		{"state: DIR", `state is "DIR": want a file in a directory that exists`},
		{"buffers: {directory: TOKEN}", `buffers.directory is "TOKEN": want a directory that exists`},
	} {
		t.Run(test.text, func(t *testing.T) {
			_, err := config.Parse("w", []byte(fill.Replace(test.text)+"\n"+small))
			if test.want == "" && err != nil {
				t.Error(err)
			}
			if want := fill.Replace(test.want); test.want != "" && (err == nil || strings.Contains(err.Error(), "\n") || !strings.HasSuffix(err.Error(), ": "+want)) {
				t.Errorf("\n got %v\nwant %s", err, want)
			}
		})
	}
}

// TestFilesOfTheRepository: the files are valid and their limits accepted, except the files
// in bad, which also test the schema.
func TestFilesOfTheRepository(t *testing.T) {
	for pattern, valid := range map[string]bool{"testdata/good/*.yaml": true, "../../../../deploy/weir.yaml": true, "testdata/bad/*.yaml": false} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Errorf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			c, _, err := config.Load(file)
			if (err == nil) != valid {
				t.Errorf("%s: %v", file, err)
			}
			if valid && err == nil {
				if _, err := bulkhead.New(c.Bulkhead()); err != nil {
					t.Errorf("%s: %v", file, err)
				}
			}
		}
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	_, _, err := config.Load(dir + "/none")
	refused(t, err, dir+"/none: no such file or directory: want a file with a configuration")
	_, _, err = config.Load(dir)
	refused(t, err, dir+": is a directory: want a file with a configuration")
	long := write(t, "long", string(make([]byte, 1<<20+5)))
	_, _, err = config.Load(long)
	refused(t, err, long+": has 1048577 bytes: want 1048576 at most")
	locked := write(t, "locked", small)
	must.Do(t, os.Chmod(locked, 0))
	if _, err := os.ReadFile(locked); err != nil { // root can read it
		_, _, err = config.Load(locked)
		refused(t, err, locked+": permission denied: want a file with a configuration")
	}
}

// A named pipe without a writer has no configuration: a reload does not wait for one.
func TestLoadOfAPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if out, err := exec.Command("mkfifo", pipe).CombinedOutput(); err != nil {
		t.Skipf("needs a named pipe: %v: %s", err, out)
	}
	loaded := make(chan error, 1)
	go func() {
		_, _, err := config.Load(pipe)
		loaded <- err
	}()
	var err error
	must.Happen(t, "the pipe is read", func() bool {
		select {
		case err = <-loaded:
			return true
		default:
			return false
		}
	})
	refused(t, err, pipe+": upstreams is missing: want an object of names")
}
