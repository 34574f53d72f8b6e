package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// materials returns the bill of materials of the binaries, as the linker recorded it.
func materials(version string, built []binary, at time.Time) ([]byte, error) {
	parts := []cdx.Component{}
	needs := []cdx.Dependency{}
	var commands []string
	for _, b := range built {
		command := component(b.info.Main, cdx.ComponentTypeApplication)
		command.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: fmt.Sprintf("%x", sha256.Sum256(b.text))}} // of the file, not of the source
		parts = append(parts, command)
		commands = append(commands, command.BOMRef)

		std := standard(b.info.GoVersion)
		on := []string{std.BOMRef}
		for _, dep := range b.info.Deps {
			on = append(on, component(*dep, cdx.ComponentTypeLibrary).BOMRef)
		}
		needs = append(needs, cdx.Dependency{Ref: command.BOMRef, Dependencies: &on})
	}
	parts = append(parts, standard(built[0].info.GoVersion))
	for _, m := range modulesIn(built) {
		if library := component(m, cdx.ComponentTypeLibrary); !slices.Contains(commands, library.BOMRef) {
			parts = append(parts, library)
		}
	}
	needs = append(needs, cdx.Dependency{Ref: "weir", Dependencies: &commands})

	bill := cdx.NewBOM()
	bill.Metadata = &cdx.Metadata{
		Timestamp: at.UTC().Format(time.RFC3339),
		Component: &cdx.Component{BOMRef: "weir", Type: cdx.ComponentTypeApplication, Name: "weir", Version: version},
		Supplier:  &cdx.OrganizationalEntity{Name: "Weir", URL: &[]string{"https://" + modulePath}},
	}
	bill.Components, bill.Dependencies = &parts, &needs
	var out bytes.Buffer
	err := cdx.NewBOMEncoder(&out, cdx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bill, cdx.SpecVersion1_6)
	return out.Bytes(), err
}

// component describes a module, with the checksum in go.sum converted to the format of
// CycloneDX.
func component(m debug.Module, kind cdx.ComponentType) cdx.Component {
	purl := "pkg:golang/" + m.Path + "@" + m.Version
	c := cdx.Component{BOMRef: purl, PackageURL: purl, Type: kind, Name: m.Path, Version: m.Version}
	if sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:")); err == nil && len(sum) == sha256.Size {
		c.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: fmt.Sprintf("%x", sum)}}
	}
	return c
}

// standard is the standard library, with the name in databases of vulnerabilities.
func standard(version string) cdx.Component {
	return component(debug.Module{Path: "std", Version: strings.TrimPrefix(version, "go")}, cdx.ComponentTypeLibrary)
}

// modulesIn lists the modules that are in the binaries, each once.
func modulesIn(built []binary) (all []debug.Module) {
	for _, b := range built {
		all = append(all, b.info.Main)
		for _, dep := range b.info.Deps {
			all = append(all, *dep)
		}
	}
	slices.SortFunc(all, func(a, b debug.Module) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Version, b.Version))
	})
	return slices.Compact(all)
}
