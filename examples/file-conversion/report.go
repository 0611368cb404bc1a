package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

const (
	tableRowsMax  = 60 // the rest is in report.html
	tableWidthMax = 48
	digestShown   = 12
)

func (j *job) printSummary(to io.Writer) error {
	line, err := json.Marshal(j.summary())
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(to, string(line))
	return err
}

// sorted puts what went wrong first.
func (j *job) sorted() []*row {
	rows := slices.Clone(j.rows)
	slices.SortStableFunc(rows, func(a, b *row) int {
		switch {
		case a.Verified == b.Verified:
			return strings.Compare(a.Path, b.Path)
		case b.Verified:
			return -1
		}
		return 1
	})
	return rows
}

func (j *job) printTable(to io.Writer) {
	t := table.NewWriter()
	t.SetOutputMirror(to)
	t.SetStyle(table.StyleLight)
	t.SetColumnConfigs([]table.ColumnConfig{
		{Number: 1, WidthMax: tableWidthMax, WidthMaxEnforcer: text.Trim},
		{Number: 4, WidthMax: tableWidthMax, WidthMaxEnforcer: text.Trim},
		{Number: 6, Align: text.AlignRight},
	})
	t.AppendHeader(table.Row{"file", "state", "kind", "title or problem", "digest", "bytes"})
	for i, r := range j.sorted() {
		if i == tableRowsMax {
			t.AppendRow(table.Row{fmt.Sprintf("… and %d more", len(j.rows)-tableRowsMax)})
			break
		}
		if r.Result == nil || !r.Verified {
			t.AppendRow(table.Row{r.Path, r.State, "", r.Problem, "", ""})
			continue
		}
		t.AppendRow(table.Row{r.Path, r.State, r.Result.Kind, r.Result.Title, r.Result.SHA256[:digestShown], r.Result.Bytes})
	}
	t.Render()
	fmt.Fprintf(to, "report: %s/report.html\n", strings.TrimRight(j.out, "/"))
}

// writeReports writes report.json and report.html into the output folder, each whole or not at all.
func (j *job) writeReports() error {
	document := struct {
		Definition string  `json:"definition"`
		Summary    summary `json:"summary"`
		Files      []*row  `json:"files"`
	}{j.name, j.summary(), j.rows}
	text, err := json.MarshalIndent(document, "", "  ")
	if err != nil {
		return err
	}
	var page bytes.Buffer
	view := struct {
		Summary summary
		Rows    []*row
	}{j.summary(), j.sorted()}
	if err := reportTemplate.Execute(&page, view); err != nil {
		return err
	}
	if err := j.folders.Put(".", "report.json", append(text, '\n')); err != nil {
		return err
	}
	return j.folders.Put(".", "report.html", page.Bytes())
}

var reportTemplate = template.Must(template.New("report").Funcs(template.FuncMap{
	"picture": func(kind string) bool { return slices.Contains([]string{"PNG", "JPEG", "GIF"}, kind) },
}).Parse(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src 'self' file:">
<title>File conversion</title>
<style>
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 20%, transparent); }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid var(--line); padding: .4rem .6rem; text-align: left; vertical-align: top; overflow-wrap: anywhere; }
img { max-height: 72px; display: block; }
code { font: .85em ui-monospace, monospace; }
.bad { color: #c62828; font-weight: 600; }
</style>
</head>
<body>
<h1>File conversion</h1>
<p>{{.Summary.Succeeded}} of {{.Summary.Instances}} files converted, {{.Summary.Tasks}} tasks, {{.Summary.Seconds}} s.</p>
<table>
<thead><tr><th>File</th><th>Result</th><th>Kind</th><th>State</th><th>SHA-256 of the result</th><th>Instance</th></tr></thead>
<tbody>
{{- range .Rows}}
<tr><td>{{.Path}}</td>
{{- if .Verified}}
<td><a href="{{.Result.File}}">{{if picture .Result.Kind}}<img src="{{.Result.File}}" alt="">{{end}}{{.Result.Title}}</a></td>
<td>{{.Result.Kind}}</td><td>{{.State}}</td><td><code>{{.Result.SHA256}}</code></td>
{{- else}}
<td class="bad">{{.Problem}}</td><td></td><td class="bad">{{.State}}</td><td></td>
{{- end}}
<td><code>{{.InstanceID}}</code></td></tr>
{{- end}}
</tbody>
</table>
</body>
</html>
`))
