package orbit

import (
	"context"
	"iter"
	"net/http"
)

// page is one answer of a list.
type page[T any] struct {
	Items      []T    `json:"items"`
	NextCursor string `json:"next_cursor"`
}

// pages walks a list to its end, asking for the next page only when the caller gets there. An error is the last thing
// it yields. build makes the request of the page behind cursor; nil is the first.
func pages[T any](ctx context.Context, c *Client, operation string, build func(cursor *string) (*http.Request, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var cursor *string
		for {
			var p page[T]
			_, err := c.do(ctx, call{operation: operation, out: &p, build: func() (*http.Request, error) { return build(cursor) }})
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range p.Items {
				if !yield(item, nil) {
					return
				}
			}
			if p.NextCursor == "" {
				return
			}
			cursor = &p.NextCursor
		}
	}
}

// pageSize is the largest page the server gives: a walk wants few requests.
var pageSize int32 = 200
