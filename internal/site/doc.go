// Command site builds the documentation site from the repository: the Markdown files that
// site/data/nav.yaml names, the packages with their examples, and the help of the command.
//
//	scripts/site build   into _site
//	scripts/site serve   builds it, and shows it on this machine
//
// The files stay readable on GitHub unchanged. Links between them become links between pages,
// and links to other files of the repository lead to GitHub. A dead link or anchor fails the
// build. docs/decisions/0038-site.md explains the choice against an existing generator.
package main
