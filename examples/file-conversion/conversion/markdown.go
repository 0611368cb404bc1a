package conversion

import (
	"bytes"
	"html/template"
	"strings"

	chromahtml "github.com/alecthomas/chroma/v2/formatters/html"
	"github.com/yuin/goldmark"
	highlighting "github.com/yuin/goldmark-highlighting/v2"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// markdown is GitHub's Markdown with highlighted code. Raw HTML of the source is left out (goldmark's default): a page
// made from a stranger's file can run nothing.
var markdown = goldmark.New(
	goldmark.WithExtensions(extension.GFM, extension.Footnote, highlighting.NewHighlighting(
		highlighting.WithStyle("github"), highlighting.WithFormatOptions(chromahtml.WithClasses(false)))),
	goldmark.WithParserOptions(parser.WithAutoHeadingID()),
)

// contentsFrom is the shortest list of headings that helps a reader.
const contentsFrom = 3

func markdownPage(content []byte, title string) ([]byte, error) {
	document := markdown.Parser().Parse(text.NewReader(content))
	var body bytes.Buffer
	if err := markdown.Renderer().Render(&body, content, document); err != nil {
		return nil, permanent(CodeDamaged, err)
	}
	p := page{Title: title, Markdown: template.HTML(strings.TrimSpace(body.String()))}
	if p.Markdown == "" {
		p.Text = string(content) // nothing but comments or blanks: shown as it is
	}
	for _, h := range headings(document, content) {
		if h.Level == 2 || h.Level == 3 {
			p.Contents = append(p.Contents, h)
		}
	}
	if len(p.Contents) < contentsFrom {
		p.Contents = nil
	}
	return p.html()
}

// markdownTitle is the first heading of the highest level there is, or "".
func markdownTitle(content []byte) string {
	best := heading{Level: 7}
	for _, h := range headings(markdown.Parser().Parse(text.NewReader(content)), content) {
		if h.Level < best.Level && h.Text != "" {
			best = h
		}
	}
	return best.Text
}

func headings(document ast.Node, content []byte) []heading {
	var list []heading
	_ = ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the walker below returns no error
		h, is := n.(*ast.Heading)
		if !is || !entering {
			return ast.WalkContinue, nil
		}
		id, _ := h.AttributeString("id")
		bytesOfID, _ := id.([]byte)
		list = append(list, heading{h.Level, string(bytesOfID), plainText(h, content)})
		return ast.WalkSkipChildren, nil
	})
	return list
}

// plainText is what a reader sees of a node, without its marks.
func plainText(n ast.Node, content []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the walker below returns no error
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			b.Write(n.Value(content))
			if n.SoftLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(n.Value)
		case *ast.AutoLink:
			b.Write(n.Label(content))
		}
		return ast.WalkContinue, nil
	})
	return strings.Join(strings.Fields(b.String()), " ")
}
