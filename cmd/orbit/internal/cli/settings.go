package cli

import (
	"cmp"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/orbitrun/orbit/cmd/orbit/internal/render"
)

// DefaultURL is where a node started with its defaults listens.
const DefaultURL = "http://127.0.0.1:7460"

// Settings are the flags every online command takes.
type Settings struct {
	URL, KeyFile, Profile, Config, Output string
	Timeout                               time.Duration
	Retries                               int
}

// Attach adds the flags of an online command and of everything below it.
func (s *Settings) Attach(cmd *cobra.Command) {
	flags := cmd.PersistentFlags()
	flags.StringVar(&s.URL, "url", "", "address of a node (default: ORBIT_URL, the profile, "+DefaultURL+")")
	flags.StringVar(&s.KeyFile, "key-file", "", "file with the key (default: ORBIT_KEY, the profile); a key in a flag would be seen by every user of the machine")
	flags.StringVar(&s.Profile, "profile", "", "profile of the configuration file (default: ORBIT_PROFILE, its current one)")
	flags.StringVar(&s.Config, "config", "", "configuration file (default: ORBIT_CONFIG, ~/.config/orbit/config.yaml)")
	flags.DurationVar(&s.Timeout, "timeout", 0, "give up after this time (default: 30s for one request, none for watching)")
	flags.IntVar(&s.Retries, "retries", 4, "how often a request that is safe to repeat is repeated")
	s.AttachOutput(cmd)
}

// AttachOutput adds only --output, for commands that need no server.
func (s *Settings) AttachOutput(cmd *cobra.Command) {
	cmd.PersistentFlags().StringVarP(&s.Output, "output", "o", "table", "output format: table or json")
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"table", "json"}, cobra.ShellCompDirectiveNoFileComp))
	cmd.PersistentPreRunE = func(*cobra.Command, []string) error { return s.check() }
}

func (s *Settings) check() error {
	if !slices.Contains([]string{"table", "json"}, s.Output) {
		return Usage("--output %q: use table or json", s.Output)
	}
	return nil
}

// Printer writes results in the chosen format to the command's standard output.
func (s *Settings) Printer(cmd *cobra.Command) *render.Printer {
	return render.New(cmd.OutOrStdout(), s.Output == "json")
}

// target is a node and the key to ask it with.
type target struct{ url, key string }

// target resolves flag, environment and profile, in this order.
func (s *Settings) target(warn io.Writer) (target, error) {
	profile, err := s.profile(warn)
	if err != nil {
		return target{}, err
	}
	t := target{url: cmp.Or(s.URL, os.Getenv("ORBIT_URL"), profile.URL, DefaultURL)}
	if t.key, err = s.key(profile); err != nil {
		return target{}, err
	}
	parsed, err := url.Parse(t.url)
	if err != nil || parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.Host == "" {
		return target{}, Usage("the address %q is not http://host:port or https://host", t.url)
	}
	if parsed.User != nil || parsed.RawQuery != "" || parsed.Fragment != "" {
		return target{}, Usage("the address of a node has no user, query or fragment; the key comes from ORBIT_KEY")
	}
	if t.key != "" && parsed.Scheme == "http" && !loopback(parsed.Hostname()) {
		fmt.Fprintf(warn, "orbit: warning: the key travels unencrypted to %s; use https\n", parsed.Host)
	}
	return t, nil
}

func (s *Settings) key(profile Profile) (string, error) {
	if s.KeyFile == "" {
		return cmp.Or(strings.TrimSpace(os.Getenv("ORBIT_KEY")), profile.Key), nil
	}
	text, err := os.ReadFile(s.KeyFile)
	if err != nil {
		return "", Usage("--key-file: %v", err)
	}
	return strings.TrimSpace(string(text)), nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
