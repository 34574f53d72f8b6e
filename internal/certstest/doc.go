// Package certstest provides certificate authorities for tests.
package certstest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
)

// An Authority signs certificates.
type Authority struct {
	Until time.Time // the end of the certificates that it signs from now on

	t    testing.TB
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// New creates an authority that signs for an hour.
func New(t testing.TB) *Authority {
	t.Helper()
	a := &Authority{t: t, Until: time.Now().Add(time.Hour)}
	template := a.template("authority")
	template.IsCA, template.KeyUsage = true, x509.KeyUsageCertSign
	a.key = a.newKey()
	a.cert = a.issue(template, template, a.key)
	return a
}

// Sign returns a certificate and its key, as PEM, for clients and for a server with that
// name, or on 127.0.0.1.
func (a *Authority) Sign(name string) (cert, key []byte) {
	a.t.Helper()
	private := a.newKey()
	template := a.template(name)
	signed := a.issue(template, a.cert, private)
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		a.t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed.Raw}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

// Write writes the result of Sign into files.
func (a *Authority) Write(name, certFile, keyFile string) {
	a.t.Helper()
	cert, key := a.Sign(name)
	must.Write(a.t, keyFile, key)
	must.Write(a.t, certFile, cert)
}

// Pair returns the result of Sign, ready for use.
func (a *Authority) Pair(name string) tls.Certificate {
	a.t.Helper()
	pair, err := tls.X509KeyPair(a.Sign(name))
	if err != nil {
		a.t.Fatal(err)
	}
	return pair
}

// PEM is the certificate of the authority.
func (a *Authority) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw})
}

// Pool returns the pool of a peer that trusts the authority.
func (a *Authority) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return pool
}

func (a *Authority) template(name string) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: a.Until,
		DNSNames: []string{name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
}

func (a *Authority) newKey() *ecdsa.PrivateKey {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	return key
}

// issue signs a certificate for the owner of a key.
func (a *Authority) issue(template, parent *x509.Certificate, owner *ecdsa.PrivateKey) *x509.Certificate {
	a.t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &owner.PublicKey, a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	return cert
}
