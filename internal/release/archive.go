package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing/fstest"
	"time"
)

func (r release) write(p platform, built []binary, at time.Time) error {
	licenses, err := licenses(built)
	if err != nil {
		return err
	}
	files := fstest.MapFS{"LICENSES.txt": file(licenses, 0o644, at)}
	for _, b := range built {
		files[b.name] = file(b.text, 0o755, at)
	}
	pack, suffix := tarball, ".tar.gz"
	if p.system == "windows" {
		pack, suffix = zipped, ".zip"
	}
	archive, err := pack(files)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("weir_%s_%s%s", r.version, p, suffix)
	return os.WriteFile(filepath.Join(r.dir, name), archive, 0o644)
}

// file is a file of an archive, without traces of the machine or its user.
func file(text []byte, mode os.FileMode, at time.Time) *fstest.MapFile {
	return &fstest.MapFile{Data: text, Mode: mode, ModTime: at}
}

func tarball(files fstest.MapFS) ([]byte, error) {
	var out bytes.Buffer
	compressed := gzip.NewWriter(&out)
	archive := tar.NewWriter(compressed)
	err := errors.Join(archive.AddFS(files), archive.Close(), compressed.Close())
	return out.Bytes(), err
}

func zipped(files fstest.MapFS) ([]byte, error) {
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	err := errors.Join(archive.AddFS(files), archive.Close())
	return out.Bytes(), err
}

// sums writes the checksums of all files, in the format of sha256sum.
func (r release) sums() error {
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(r.dir, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&out, "%x  %s\n", sha256.Sum256(text), e.Name())
	}
	return os.WriteFile(filepath.Join(r.dir, "SHA256SUMS"), out.Bytes(), 0o644)
}
