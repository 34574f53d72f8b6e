// Command site builds the documentation site from what the repository has: the Markdown files that
// site/data/nav.yaml names, the packages with their examples, and the help of the command.
//
//	scripts/site build   into _site
//	scripts/site serve   builds it, and shows it on this machine
//
// The files stay readable on GitHub as they are. Links between them become links between pages, and
// all other files of the repository are linked to on GitHub. A link or an anchor that leads nowhere
// fails the build. Why there is no generator of another project: docs/decisions/0038-site.md.
package main
