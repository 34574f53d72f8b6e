// Package chromium controls Chromium in tests of pages, by the few calls of its protocol that the
// tests need: https://chromedevtools.github.io/devtools-protocol. Only tests import it.
package chromium
