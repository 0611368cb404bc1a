package main

import (
	"cmp"
	"context"
	"io/fs"
	"net/http"
	"path"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/orbitrun/orbit/cmd/orbit/internal/cli"
	"github.com/orbitrun/orbit/cmd/orbit/internal/render"
	"github.com/orbitrun/orbit/gen/client"
	httpapi "github.com/orbitrun/orbit/gen/http"
	orbitsql "github.com/orbitrun/orbit/sql"
)

// version is set by the release build: -ldflags "-X main.version=1.2.3".
var version string

// build says what this binary is. Without a release version it is the module's,
// or "dev" for a build in a work tree.
func build() httpapi.Version {
	out := httpapi.Version{Version: version, Commit: "unknown", Go: runtime.Version(), Schema: newestMigration()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		out.Version = cmp.Or(out.Version, "dev")
		return out
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			out.Commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			out.Commit += "+changed"
		}
	}
	out.Version = cmp.Or(out.Version, strings.Trim(info.Main.Version, "()"), "dev")
	return out
}

// newestMigration is the version of the schema the binary was built for.
func newestMigration() string {
	files, _ := fs.Glob(orbitsql.Files, "migrations/*.sql")
	if len(files) == 0 {
		return ""
	}
	number, _, _ := strings.Cut(path.Base(files[len(files)-1]), "_")
	return strings.TrimSuffix(number, ".sql")
}

var _ = register(versionCommand)

func versionCommand() *cobra.Command {
	var s cli.Settings
	var server bool
	cmd := &cobra.Command{
		Use: "version", Short: "Print what this binary, or with --server the node, was built from", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if server {
				return s.Online(nodeVersion)(cmd, args)
			}
			b := build()
			return printValue(s.Printer(cmd), b, versionFields(client.Version(b))...)
		},
	}
	s.Attach(cmd)
	cmd.Flags().BoolVar(&server, "server", false, "ask the node")
	return cmd
}

func nodeVersion(ctx context.Context, on *cli.Session, _ []string) error {
	return showOne(ctx, on, versionFields, func(ctx context.Context) (*http.Response, error) { return on.API.GetVersion(ctx) })
}

func versionFields(v client.Version) []render.Field {
	return []render.Field{{Name: "version", Value: v.Version}, {Name: "commit", Value: v.Commit}, {Name: "go", Value: v.Go}, {Name: "schema", Value: v.Schema}}
}
