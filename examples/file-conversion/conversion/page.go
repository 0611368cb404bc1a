package conversion

import (
	"bytes"
	"html/template"
)

// heading is a line of the table of contents.
type heading struct {
	Level    int
	ID, Text string
}

type page struct {
	Title    string
	Contents []heading
	Markdown template.HTML // rendered here, raw HTML of the source left out
	Text     string        // escaped by the template
}

// pageTemplate needs nothing from elsewhere: no script, no font, no image of another host, and the policy says so.
var pageTemplate = template.Must(template.New("page").Parse(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src * data:">
<title>{{.Title}}</title>
<style>
:root { --line: #d0d7de; }
body { color: #1f2328; background: #fff; font: 16px/1.6 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2, h3, h4 { line-height: 1.25; margin: 1.8em 0 .6em; }
nav { border-left: 3px solid var(--line); padding-left: 1rem; font-size: .9rem; }
nav a { display: block; text-decoration: none; }
.level-3 { padding-left: 1.2rem; }
pre { overflow-x: auto; padding: .8rem 1rem; border-radius: 6px; border: 1px solid var(--line); line-height: 1.45; }
code, pre { font: .875rem/1.5 ui-monospace, monospace; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { border: 1px solid var(--line); padding: .35rem .7rem; text-align: left; vertical-align: top; }
blockquote { margin: 0; padding-left: 1rem; border-left: 3px solid var(--line); }
img { max-width: 100%; }
</style>
</head>
<body>
{{- if .Contents}}
<nav aria-label="Contents">
{{- range .Contents}}
<a class="level-{{.Level}}" href="#{{.ID}}">{{.Text}}</a>
{{- end}}
</nav>
{{- end}}
<main>
{{- if .Markdown}}
{{.Markdown -}}
{{else}}
<h1>{{.Title}}</h1>
<pre>{{.Text}}</pre>
{{end -}}
</main>
</body>
</html>
`))

func (p page) html() ([]byte, error) {
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, p); err != nil {
		return nil, permanent(CodeDamaged, err)
	}
	return b.Bytes(), nil
}

func textPage(content []byte, title string) ([]byte, error) {
	return page{Title: title, Text: string(content)}.html()
}
