package main

import (
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/orbitrun/orbit/cmd/orbit/internal/cli"
	"github.com/orbitrun/orbit/cmd/orbit/internal/render"
)

var _ = register(profileCommand)

func profileCommand() *cobra.Command {
	s := &cli.Settings{}
	cmd := group("profile", "Keep addresses and keys of several nodes",
		`Keep addresses and keys of several nodes in ~/.config/orbit/config.yaml, readable by its owner only:

  current: local
  profiles:
    local:
      url: http://127.0.0.1:7460
      key: orb_…

--url and --key-file win over ORBIT_URL and ORBIT_KEY, these win over the profile.`,
		profileList(s), profileSet(s), profileUse(s), profileDelete(s))
	cmd.PersistentFlags().StringVar(&s.Config, "config", "", "configuration file (default: ORBIT_CONFIG, ~/.config/orbit/config.yaml)")
	s.AttachOutput(cmd)
	return cmd
}

// listed is a profile without its key.
type listed struct {
	Name    string `json:"name"`
	URL     string `json:"url"`
	HasKey  bool   `json:"has_key"`
	Current bool   `json:"current"`
}

func profileList(s *cli.Settings) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List profiles, without keys", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			file, err := s.ReadFile()
			if err != nil {
				return err
			}
			out, rows := []listed{}, [][]string{}
			for _, name := range slices.Sorted(maps.Keys(file.Profiles)) {
				p := file.Profiles[name]
				l := listed{name, p.URL, p.Key != "", name == file.Current}
				out, rows = append(out, l), append(rows, []string{name, l.URL, render.Yes(l.HasKey), render.Yes(l.Current)})
			}
			p := s.Printer(cmd)
			if p.JSON {
				return printValue(p, out)
			}
			return p.Table([]string{"profile", "url", "key", "current"}, rows)
		},
	}
}

func profileSet(s *cli.Settings) *cobra.Command {
	var url string
	var withKey bool
	cmd := &cobra.Command{
		Use: "set NAME --url URL [--key-stdin]", Short: "Make or change a profile; the first one becomes the current one", Args: cobra.ExactArgs(1),
		Example: "  orbit admin bootstrap -o json | jq -r .key | orbit profile set local --url http://127.0.0.1:7460 --key-stdin",
	}
	cmd.Flags().StringVar(&url, "url", "", "address of a node")
	cmd.Flags().BoolVar(&withKey, "key-stdin", false, "read the key from standard input")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		file, err := s.ReadFile()
		if err != nil {
			return err
		}
		p := file.Profiles[args[0]]
		if url != "" {
			p.URL = url
		}
		if withKey {
			text, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), 4096))
			if err != nil {
				return err
			}
			p.Key = strings.TrimSpace(string(text))
		}
		if p.URL == "" {
			p.URL = cli.DefaultURL
		}
		file.Profiles[args[0]] = p
		if file.Current == "" {
			file.Current = args[0]
		}
		return s.WriteFile(file)
	}
	return cmd
}

func profileUse(s *cli.Settings) *cobra.Command {
	return &cobra.Command{
		Use: "use NAME", Short: "Make a profile the current one", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return change(s, args[0], func(f *cli.File) { f.Current = args[0] })
		},
	}
}

func profileDelete(s *cli.Settings) *cobra.Command {
	return &cobra.Command{
		Use: "delete NAME", Short: "Forget a profile and its key", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return change(s, args[0], func(f *cli.File) {
				delete(f.Profiles, args[0])
				if f.Current == args[0] {
					f.Current = ""
				}
			})
		},
	}
}

// change edits an existing profile.
func change(s *cli.Settings, name string, edit func(*cli.File)) error {
	file, err := s.ReadFile()
	if err != nil {
		return err
	}
	if _, found := file.Profiles[name]; !found {
		return cli.Usage("there is no profile %q", name)
	}
	edit(&file)
	return s.WriteFile(file)
}
