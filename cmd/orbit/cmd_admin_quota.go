package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/orbitrun/orbit/cmd/orbit/internal/cli"
	"github.com/orbitrun/orbit/cmd/orbit/internal/render"
	"github.com/orbitrun/orbit/gen/client"
)

// quotaFlags are the limits of an application.
type quotaFlags client.QuotaLimits

var quotaNames = []string{"open-tasks-max", "running-attempts-max", "open-instances-max", "open-payload-bytes-max"}

func (q *quotaFlags) attach(cmd *cobra.Command, without string) {
	flags := cmd.Flags()
	flags.Int64Var(&q.OpenTasksMax, quotaNames[0], 0, "tasks that have not ended (default: "+without+")")
	flags.Int64Var(&q.RunningAttemptsMax, quotaNames[1], 0, "attempts at the same time (default: "+without+")")
	flags.Int64Var(&q.OpenInstancesMax, quotaNames[2], 0, "instances that have not ended (default: "+without+")")
	flags.Int64Var(&q.OpenPayloadBytesMax, quotaNames[3], 0, "input bytes of open tasks (default: "+without+")")
}

func (q *quotaFlags) any(cmd *cobra.Command) bool { return len(q.missing(cmd)) < len(quotaNames) }

func (q *quotaFlags) missing(cmd *cobra.Command) (names []string) {
	for _, name := range quotaNames {
		if !cmd.Flags().Changed(name) {
			names = append(names, "--"+name)
		}
	}
	return names
}

// complete refuses half a quota: the other half would silently be zero.
func (q *quotaFlags) complete(cmd *cobra.Command) error {
	if names := q.missing(cmd); len(names) > 0 {
		return cli.Usage("a new quota needs %s too", strings.Join(names, ", "))
	}
	return nil
}

func adminQuota(s *cli.Settings) *cobra.Command {
	return group("quota", "Show and change quotas", "", quotaGet(s), quotaPut(s))
}

func quotaGet(s *cli.Settings) *cobra.Command {
	return &cobra.Command{
		Use: "get APPLICATION", Short: "Show limits and exact use", Args: cobra.ExactArgs(1),
		RunE: s.Online(func(ctx context.Context, on *cli.Session, args []string) error {
			return showOne(ctx, on, quotaFields, func(ctx context.Context) (*http.Response, error) { return on.API.GetQuota(ctx, args[0]) })
		}),
	}
}

func quotaPut(s *cli.Settings) *cobra.Command {
	var q quotaFlags
	cmd := &cobra.Command{
		Use: "put APPLICATION", Short: "Change limits; those not given keep their value", Args: cobra.ExactArgs(1),
		Long: `Change limits; those not given keep their value. Limits below the present use refuse new work and end nothing.`,
	}
	q.attach(cmd, "its present value")
	cmd.RunE = s.Online(func(ctx context.Context, on *cli.Session, args []string) error {
		if !q.any(cmd) {
			return cli.Usage("give at least one limit")
		}
		now, _, err := cli.Read[client.Quota](ctx, on, func(ctx context.Context) (*http.Response, error) { return on.API.GetQuota(ctx, args[0]) })
		if err != nil {
			return err
		}
		q.keep(cmd, now)
		body, err := json.Marshal(q)
		if err != nil {
			return err
		}
		return showOne(ctx, on, quotaFields, func(ctx context.Context) (*http.Response, error) {
			return on.API.PutQuotaWithBody(ctx, args[0], "application/json", bytes.NewReader(body))
		})
	})
	return cmd
}

// keep fills in what no flag gave.
func (q *quotaFlags) keep(cmd *cobra.Command, now client.Quota) {
	present := []int64{now.OpenTasksMax, now.RunningAttemptsMax, now.OpenInstancesMax, now.OpenPayloadBytesMax}
	for i, field := range []*int64{&q.OpenTasksMax, &q.RunningAttemptsMax, &q.OpenInstancesMax, &q.OpenPayloadBytesMax} {
		if !cmd.Flags().Changed(quotaNames[i]) {
			*field = present[i]
		}
	}
}

func quotaFields(q client.Quota) []render.Field {
	used := func(n, most int64) string { return render.Int(n) + " of " + render.Int(most) }
	return []render.Field{{Name: "application", Value: q.ApplicationId}, {Name: "open tasks", Value: used(q.OpenTasks, q.OpenTasksMax)},
		{Name: "running attempts", Value: used(q.RunningAttempts, q.RunningAttemptsMax)}, {Name: "open instances", Value: used(q.OpenInstances, q.OpenInstancesMax)},
		{Name: "open payload bytes", Value: used(q.OpenPayloadBytes, q.OpenPayloadBytesMax)}}
}
