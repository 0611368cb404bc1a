package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/orbitrun/orbit/cmd/orbit/internal/cli"
	"github.com/orbitrun/orbit/cmd/orbit/internal/cli/docfile"
	"github.com/orbitrun/orbit/cmd/orbit/internal/render"
	"github.com/orbitrun/orbit/engine/weave/definition"
	"github.com/orbitrun/orbit/gen/client"
)

func workflowPublish(s *cli.Settings) *cobra.Command {
	return &cobra.Command{
		Use: "publish FILE", Short: "Publish a version; the same content again gives the first receipt", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := docfile.Read(args[0], cmd.InOrStdin())
			if err != nil {
				return err
			}
			_, found := file.Check(definition.Options{})
			fmt.Fprint(cmd.ErrOrStderr(), file.Print(found))
			if docfile.Errors(found) > 0 {
				fmt.Fprintln(cmd.ErrOrStderr(), docfile.Summary(found)+"; nothing was sent")
				return cli.Findings()
			}
			return s.Online(func(ctx context.Context, on *cli.Session, _ []string) error { return publish(ctx, on, file) })(cmd, args)
		},
	}
}

func publish(ctx context.Context, on *cli.Session, file *docfile.File) error {
	body, err := new(cli.Body).Raw("document", file.JSON).Bytes()
	if err != nil {
		return err
	}
	err = showOne(ctx, on, receiptFields, func(ctx context.Context) (*http.Response, error) {
		return on.API.PublishWorkflowWithBody(ctx, nil, "application/json", bytes.NewReader(body))
	})
	var refused *cli.Refusal
	if errors.As(err, &refused) && refused.Code == "definition_invalid" && refused.Errors != nil {
		fmt.Fprint(on.Err, file.Print(placed(file, *refused.Errors)))
	}
	return err
}

// placed shows what only the server could find in the lines of the file.
func placed(file *docfile.File, faults []client.Fault) (found []docfile.Finding) {
	for _, f := range faults {
		pointer := strings.TrimPrefix(f.Pointer, "/document")
		line, column := file.Place(pointer)
		found = append(found, docfile.Finding{File: file.Name, Severity: "ERROR", Code: f.Code, Pointer: pointer, Line: line, Column: column, Detail: placeInJSON.ReplaceAllString(f.Detail, "")})
	}
	return found
}

// placeInJSON is the node's word about the JSON it got, which is not the file.
var placeInJSON = regexp.MustCompile(`^line [0-9]+, column [0-9]+: `)

func receiptFields(r client.WorkflowReceipt) []render.Field {
	return []render.Field{{Name: "definition", Value: r.Definition}, {Name: "version", Value: render.Int(r.Version)},
		{Name: "digest", Value: r.Digest}, {Name: "published", Value: render.Time(r.PublishedAt)}}
}

func workflowList(s *cli.Settings) *cobra.Command {
	var f cli.ListFlags
	cmd := &cobra.Command{Use: "list", Short: "List definitions by name", Args: cobra.NoArgs}
	f.Attach(cmd)
	cmd.RunE = s.Online(func(ctx context.Context, on *cli.Session, _ []string) error {
		return cli.List(ctx, on, &f, func(ctx context.Context, cursor *string, limit *int32) (*http.Response, error) {
			return on.API.ListWorkflows(ctx, &client.ListWorkflowsParams{Cursor: cursor, Limit: limit})
		}, []string{"name", "latest version", "revision", "created", "updated"}, func(w client.Workflow) []string {
			return []string{w.Name, render.Int(w.LatestVersion), render.Int(w.Revision), render.Time(w.CreatedAt), render.Time(w.UpdatedAt)}
		})
	})
	return cmd
}

func workflowVersions(s *cli.Settings) *cobra.Command {
	var f cli.ListFlags
	cmd := &cobra.Command{Use: "versions NAME", Short: "List the versions of a definition, newest first", Args: cobra.ExactArgs(1)}
	f.Attach(cmd)
	cmd.RunE = s.Online(func(ctx context.Context, on *cli.Session, args []string) error {
		return cli.List(ctx, on, &f, func(ctx context.Context, cursor *string, limit *int32) (*http.Response, error) {
			return on.API.ListWorkflowVersions(ctx, args[0], &client.ListWorkflowVersionsParams{Cursor: cursor, Limit: limit})
		}, []string{"version", "digest", "published by", "published"}, func(v client.WorkflowVersionSummary) []string {
			return []string{render.Int(v.Version), render.Brief(v.Digest, 17), v.PublishedBy, render.Time(v.CreatedAt)}
		})
	})
	return cmd
}

func workflowGet(s *cli.Settings) *cobra.Command {
	var document bool
	cmd := &cobra.Command{
		Use: "get NAME[@VERSION]", Short: "Show a definition, or one version of it", Args: cobra.ExactArgs(1),
		RunE: s.Online(func(ctx context.Context, on *cli.Session, args []string) error {
			name, version, ok := versionRef(args[0])
			if !ok && document {
				return cli.Usage("--document needs NAME@VERSION")
			}
			if !ok {
				return showOne(ctx, on, workflowFields, func(ctx context.Context) (*http.Response, error) { return on.API.GetWorkflow(ctx, args[0]) })
			}
			v, answer, err := cli.Read[client.WorkflowVersion](ctx, on, func(ctx context.Context) (*http.Response, error) {
				return on.API.GetWorkflowVersion(ctx, name, version)
			})
			switch {
			case err != nil:
				return err
			case document:
				return on.Out.Body(v.Document)
			}
			return show(on, answer, versionedFields(v))
		}),
	}
	cmd.Flags().BoolVar(&document, "document", false, "print only the document, byte for byte as published")
	return cmd
}

func workflowFields(w client.Workflow) []render.Field {
	return []render.Field{{Name: "name", Value: w.Name}, {Name: "latest version", Value: render.Int(w.LatestVersion)}, {Name: "revision", Value: render.Int(w.Revision)},
		{Name: "created", Value: render.Time(w.CreatedAt)}, {Name: "updated", Value: render.Time(w.UpdatedAt)}}
}

func versionedFields(v client.WorkflowVersion) []render.Field {
	return []render.Field{{Name: "name", Value: v.Name}, {Name: "version", Value: render.Int(v.Version)}, {Name: "digest", Value: v.Digest},
		{Name: "published by", Value: v.PublishedBy}, {Name: "published", Value: render.Time(v.CreatedAt)},
		{Name: "document", Value: render.Int(len(v.Document)) + " bytes (--document prints it)"}}
}

var versionRefForm = regexp.MustCompile(`^([a-z][a-z0-9_]*)@([1-9][0-9]*)$`)

// versionRef reads NAME@VERSION.
func versionRef(text string) (name string, version int32, ok bool) {
	m := versionRefForm.FindStringSubmatch(text)
	if m == nil {
		return "", 0, false
	}
	n, err := strconv.ParseInt(m[2], 10, 32)
	return m[1], int32(n), err == nil
}
