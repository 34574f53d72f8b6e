package certs

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/tls"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/certstest"
	"github.com/weir-go/weir/internal/must"
)

// rotated is a pair of files that a test changes, with their Files.
type rotated struct {
	*Files
	t         *testing.T
	signed    *certstest.Authority
	cert, key string
	log       bytes.Buffer
	at        time.Time
}

const every = time.Second

func rotating(t *testing.T) *rotated {
	t.Helper()
	dir := t.TempDir()
	r := &rotated{t: t, signed: certstest.New(t), cert: filepath.Join(dir, "cert"), key: filepath.Join(dir, "key"), at: time.Now()}
	r.signed.Write("first", r.cert, r.key)
	read := func() (*tls.Config, error) {
		pair, err := Pair(r.cert, r.key)
		return &tls.Config{Certificates: pair}, err
	}
	r.Files = must.Have(Open(read, every, slog.New(slog.NewTextHandler(&r.log, nil)), r.cert, "", r.key))(t)
	r.now = func() time.Time { return r.at }
	return r
}

// is checks the certificate of a handshake at a later time.
func (r *rotated) is(want string, later time.Duration) {
	r.t.Helper()
	r.at = r.at.Add(later)
	if name := r.Latest().Certificates[0].Leaf.Subject.CommonName; name != want {
		r.t.Errorf("%s, want %s", name, want)
	}
}

func TestFilesAreReadAgainWhenTheyChange(t *testing.T) {
	r := rotating(t)
	r.signed.Write("second", r.cert, r.key)
	r.at = r.looked
	r.is("first", every-1)
	r.is("second", 1)

	cert, key := r.signed.Sign("third")
	must.Write(t, r.cert, cert)
	for range 3 { // the key is still the old one
		r.is("second", every)
	}
	if n := strings.Count(r.log.String(), "cannot be used"); n != 1 {
		t.Errorf("logged %d times:\n%s", n, &r.log)
	}
	if err := r.Refresh(); err == nil || !strings.Contains(err.Error(), r.cert) {
		t.Errorf("Refresh: %v", err)
	}
	must.Write(t, r.key, key)
	must.Do(t, r.Refresh())
	r.is("third", 0)
	if n := strings.Count(r.log.String(), "used from now on"); n != 2 {
		t.Errorf("logged %d times:\n%s", n, &r.log)
	}

	must.Do(t, os.Remove(r.key))
	r.is("third", every)
	must.Write(t, r.key, key)
	r.is("third", every)
	if err := r.Refresh(); err != nil {
		t.Errorf("after the file came back: %v", err)
	}
}

// TestOneLooks: concurrent callers use the current settings.
func TestOneLooks(t *testing.T) {
	r := rotating(t)
	r.signed.Write("second", r.cert, r.key)
	r.mu.Lock()
	r.is("first", time.Hour)
	r.mu.Unlock()
	r.is("second", 0)
}

// TestBadFilesWhileHandshakesGoOn: whatever happens to the files, each handshake has a
// matching pair.
func TestBadFilesWhileHandshakesGoOn(t *testing.T) {
	t.Parallel()
	r := rotating(t)
	r.every = 0
	stop := make(chan struct{})
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				pair := r.Latest().Certificates[0]
				if key := pair.PrivateKey.(*ecdsa.PrivateKey); !key.PublicKey.Equal(pair.Leaf.PublicKey) {
					t.Error("a certificate with the key of another")
				}
			}
		})
	}
	whole := must.Have(os.ReadFile(r.cert))(t)
	for range 20 {
		must.Write(t, r.cert, "")
		must.Write(t, r.cert, []byte("garbage"))
		must.Write(t, r.cert, whole[:len(whole)/2])
		if err := errors.Join(os.Remove(r.cert), os.Mkdir(r.cert, 0o700), r.Refresh()); err == nil {
			t.Error("a folder in place of a file: no error")
		}
		must.Do(t, os.Remove(r.cert))
		r.signed.Write("next", r.cert, r.key)
	}
	close(stop)
	all.Wait()
	r.is("next", every)
}

// TestNoFiles: an upstream verified by the system's authorities has no files.
func TestNoFiles(t *testing.T) {
	reads := 0
	f := must.Have(Open(func() (*tls.Config, error) { reads++; return new(tls.Config), nil }, 0, slog.Default(), "", ""))(t)
	if f.Latest() == nil || f.Refresh() != nil || reads != 1 {
		t.Errorf("%v after %d reads, want settings that are read once", f.Latest(), reads)
	}
}

func TestFilesThatCannotBeUsed(t *testing.T) {
	gone := filepath.Join(t.TempDir(), "gone")
	if _, err := Pair(gone, gone); err == nil || !strings.Contains(err.Error(), `tls.certificate "`+gone+`" and tls.key`) {
		t.Error(err)
	}
	if _, err := Authorities("tls.ca", gone); err == nil || !strings.HasPrefix(err.Error(), "tls.ca: open "+gone) {
		t.Error(err)
	}
	empty := must.Write(t, filepath.Join(t.TempDir(), "empty"), "")
	if _, err := Authorities("tls.ca", empty); err == nil || err.Error() != "tls.ca: "+empty+" has no certificate: want PEM" {
		t.Error(err)
	}
	read := func() (*tls.Config, error) { _, err := Pair(gone, gone); return nil, err }
	if _, err := Open(read, 0, slog.Default(), gone); err == nil {
		t.Error("Open of a file that is not there: no error")
	}
}

// TestRewrittenInPlace: the size and the time of the file stay the same.
func TestRewrittenInPlace(t *testing.T) {
	r := rotating(t)
	info := must.Have(os.Stat(r.cert))(t)
	first := must.Have(os.ReadFile(r.cert))(t)
	cert, key := r.signed.Sign("other")
	must.Write(t, r.key, key)
	size := max(len(first), len(cert))
	rewrite := func(text []byte) {
		t.Helper()
		padded := append(text, bytes.Repeat([]byte("\n"), size-len(text))...)
		must.Do(t, errors.Join(os.WriteFile(r.cert, padded, 0o600), os.Chtimes(r.cert, info.ModTime(), info.ModTime())))
	}
	rewrite(first)
	r.is("first", every)
	rewrite(cert)
	r.is("other", every)
}
