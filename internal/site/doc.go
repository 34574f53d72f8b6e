// Command site builds the documentation site in the folder _site, from the Markdown files that
// site/data/nav.yaml names and the files of the folder site.
//
//	scripts/site build   builds it
//	scripts/site serve   builds it, and shows it on this machine
//
// The files stay readable on GitHub unchanged. Links between them become links between pages,
// and links to other files of the repository lead to GitHub. A dead link or anchor fails the
// build. docs/decisions/0038-site.md explains the choice against an existing generator.
package main
