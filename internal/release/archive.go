package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

type entry struct {
	name string
	mode fs.FileMode
	text []byte
}

// write writes the archive of a platform.
func (r release) write(p platform, built []binary, at time.Time) error {
	licenses, err := licenses(built)
	if err != nil {
		return err
	}
	entries := []entry{{"LICENSES.txt", 0o644, licenses}}
	for _, b := range built {
		entries = append(entries, entry{b.name, 0o755, b.text})
	}
	pack, suffix := tarball, ".tar.gz"
	if p.system == "windows" {
		pack, suffix = zipped, ".zip"
	}
	archive, err := pack(entries, at)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("weir_%s_%s%s", r.version, p, suffix)
	return os.WriteFile(filepath.Join(r.dir, name), archive, 0o644)
}

// tarball packs files for Unix, without traces of the machine or its user.
func tarball(entries []entry, at time.Time) ([]byte, error) {
	var out bytes.Buffer
	compressed := gzip.NewWriter(&out)
	archive := tar.NewWriter(compressed)
	for _, e := range entries {
		header := tar.Header{Name: e.name, Mode: int64(e.mode), Size: int64(len(e.text)), ModTime: at.UTC(), Format: tar.FormatUSTAR}
		if err := archive.WriteHeader(&header); err != nil {
			return nil, err
		}
		if _, err := archive.Write(e.text); err != nil {
			return nil, err
		}
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	err := compressed.Close() // writes the rest
	return out.Bytes(), err
}

// zipped packs files for Windows.
func zipped(entries []entry, at time.Time) ([]byte, error) {
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for _, e := range entries {
		header := zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: at.UTC()}
		header.SetMode(e.mode)
		file, err := archive.CreateHeader(&header)
		if err != nil {
			return nil, err
		}
		if _, err := file.Write(e.text); err != nil {
			return nil, err
		}
	}
	err := archive.Close()
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
