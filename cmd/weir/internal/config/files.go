package config

import (
	"crypto/tls"
	"os"

	"github.com/weir-go/weir/cmd/weir/internal/certs"
	"github.com/weir-go/weir/cmd/weir/internal/paths"
)

// keyPair checks that the files of a certificate and its key exist and match, if there are any.
func (c *checker) keyPair(path, certificate, key string) {
	switch {
	case certificate == "" && key == "":
		return
	case certificate == "":
		c.refuse(path+".certificate", "is missing: want the file of the certificate that belongs to key")
		return
	case key == "":
		c.refuse(path+".key", "is missing: want the file of the key that belongs to certificate")
		return
	}
	if c.readable(path+".certificate", certificate) && c.readable(path+".key", key) {
		if _, err := tls.LoadX509KeyPair(certificate, key); err != nil {
			c.refuse(path, "has %s and %s, which are no pair: %v", quoted(certificate), quoted(key), err)
		}
	}
}

func (c *checker) readable(path, file string) bool {
	_, err := os.ReadFile(file)
	if err != nil {
		c.refuse(path, "is %s: %v: want a file in PEM", quoted(file), paths.Cause(err))
	}
	return err == nil
}

func (c *checker) authorities(path, file string) {
	if file == "" || !c.readable(path, file) {
		return
	}
	if _, err := certs.Authorities(path, file); err != nil {
		c.isnt(path, file, "a file with certificates in PEM, the last one whole")
	}
}
