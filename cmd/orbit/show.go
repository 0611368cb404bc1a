package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/orbitrun/orbit/cmd/orbit/internal/cli"
	"github.com/orbitrun/orbit/cmd/orbit/internal/render"
)

// showOne reads one object and prints it: as JSON the server's bytes, else as a record.
func showOne[T any](ctx context.Context, on *cli.Session, fields func(T) []render.Field, request cli.Request) error {
	v, answer, err := cli.Read[T](ctx, on, request)
	if err != nil {
		return err
	}
	return show(on, answer, fields(v))
}

// show prints an answer that was read already.
func show(on *cli.Session, answer cli.Answer, fields []render.Field) error {
	if answer.Replayed {
		fmt.Fprintln(on.Err, "replayed: this key was used before, and this is the first answer")
	}
	if on.Out.JSON {
		return on.Out.Body(answer.Body)
	}
	return on.Out.Record(fields...)
}

// printValue prints something made here rather than read from a server.
func printValue(p *render.Printer, v any, fields ...render.Field) error {
	if !p.JSON {
		return p.Record(fields...)
	}
	out, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return p.Body(out)
}

// shown decodes and prints an answer.
func shown[T any](on *cli.Session, answer cli.Answer, fields func(T) []render.Field) error {
	v, err := cli.Decode[T](answer)
	if err != nil {
		return err
	}
	return show(on, answer, fields(v))
}
