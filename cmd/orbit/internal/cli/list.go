package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"
)

// pageMax is the largest page a node serves.
const pageMax = 200

// ListFlags choose how much of a list is read.
type ListFlags struct {
	Limit  int
	All    bool
	Cursor string
}

// Attach adds the flags to a list command.
func (f *ListFlags) Attach(cmd *cobra.Command) {
	cmd.Flags().IntVar(&f.Limit, "limit", 50, "how many at most")
	cmd.Flags().BoolVar(&f.All, "all", false, "read to the end, page by page")
	cmd.Flags().StringVar(&f.Cursor, "cursor", "", "go on where an earlier list ended")
	cmd.MarkFlagsMutuallyExclusive("limit", "all")
}

// Fetch asks for one page.
type Fetch func(ctx context.Context, cursor *string, limit *int32) (*http.Response, error)

// Page is part of a list with its items as the server wrote them.
type Page struct {
	Items      []json.RawMessage `json:"items"`
	NextCursor string            `json:"next_cursor,omitempty"`
}

// body is the page as one JSON text, items byte for byte.
func (p Page) body() []byte {
	out := []byte(`{"items":[`)
	for i, item := range p.Items {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, item...)
	}
	out = append(out, ']')
	if p.NextCursor != "" {
		out = append(out, `,"next_cursor":`...)
		out = appendText(out, p.NextCursor)
	}
	return append(out, '}')
}

// pages reads a list page by page until the flags are satisfied.
func (f *ListFlags) pages(ctx context.Context, on *Session, fetch Fetch) (Page, error) {
	out := Page{NextCursor: f.Cursor}
	if f.Limit < 1 && !f.All {
		return out, Usage("--limit must be at least 1")
	}
	for {
		size := int32(pageMax)
		if !f.All {
			size = int32(min(pageMax, f.Limit-len(out.Items)))
		}
		page, _, err := Read[Page](ctx, on, func(ctx context.Context) (*http.Response, error) {
			return fetch(ctx, optional(out.NextCursor), &size)
		})
		if err != nil {
			return out, err
		}
		out.Items, out.NextCursor = append(out.Items, page.Items...), page.NextCursor
		if page.NextCursor == "" || !f.All && len(out.Items) >= f.Limit {
			return out, nil
		}
	}
}

// List reads a list and prints it: as JSON the items as they came, else one
// row per item.
func List[T any](ctx context.Context, on *Session, f *ListFlags, fetch Fetch, header []string, row func(T) []string) error {
	page, err := f.pages(ctx, on, fetch)
	if err != nil {
		return err
	}
	if on.Out.JSON {
		return on.Out.Body(page.body())
	}
	rows := make([][]string, len(page.Items))
	for i, item := range page.Items {
		var v T
		if err := decode(item, &v); err != nil {
			return err
		}
		rows[i] = row(v)
	}
	if page.NextCursor != "" {
		fmt.Fprintf(on.Err, "there are more: --all, or --cursor %s\n", page.NextCursor)
	}
	return on.Out.Table(header, rows)
}

// Every reads a whole list into values, for commands that work with it.
func Every[T any](ctx context.Context, on *Session, fetch Fetch) ([]T, error) {
	page, err := (&ListFlags{All: true}).pages(ctx, on, fetch)
	if err != nil {
		return nil, err
	}
	out := make([]T, len(page.Items))
	for i, item := range page.Items {
		if err := decode(item, &out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
