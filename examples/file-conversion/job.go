package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	orbit "github.com/orbitrun/orbit/sdk"

	"github.com/orbitrun/orbit/examples/file-conversion/conversion"
)

// job is one run of the command.
type job struct {
	options
	client  *orbit.Client
	folders *conversion.Folders
	rows    []*row
	seconds float64
}

func (o options) work(ctx context.Context, log *slog.Logger, stdout, stderr io.Writer) error {
	client, err := orbit.New(o.url, o.key, orbit.WithLogger(log))
	if err != nil {
		return err
	}
	folders, err := conversion.OpenFolders(o.in, o.out)
	if err != nil {
		return err
	}
	defer func() { _ = folders.Close() }() // handles of folders hold nothing back
	j := &job{options: o, client: client, folders: folders}
	if err := j.prepare(ctx); err != nil {
		return err
	}
	if o.workerOnly {
		return j.worker().Run(ctx)
	}
	began := time.Now()
	if err := j.start(ctx); err != nil {
		return err
	}
	if o.noWait {
		return j.printSummary(stdout)
	}
	progress := newProgress(stderr, len(j.rows))
	stopped := j.convert(ctx, progress.step)
	progress.end()
	j.seconds = time.Since(began).Seconds()
	return errors.Join(stopped, j.finish(stdout))
}

// prepare makes what the server has to know. Every part may be there already.
func (j *job) prepare(ctx context.Context) error {
	definition, err := conversion.Define(j.name)
	if err != nil {
		return err
	}
	settings := orbit.QueueSettings{OpenTasksMax: 100_000, RunningAttemptsMax: 1_000}
	if _, err := j.client.PutQueue(ctx, conversion.QueueOf(j.name), settings); err != nil {
		return err
	}
	_, err = j.client.Publish(ctx, definition)
	return err
}

// start makes one instance per file. An instance that an earlier run had started is found again by its key.
func (j *job) start(ctx context.Context) error {
	inside, err := outputInside(j.in, j.out)
	if err != nil {
		return err
	}
	sources, err := scan(j.folders, inside)
	if err != nil {
		return err
	}
	if len(sources) == 0 {
		return fmt.Errorf("no files in %s", j.in)
	}
	starts := make([]orbit.Start, len(sources))
	for i, s := range sources {
		if starts[i], err = j.startOf(s); err != nil {
			return err
		}
	}
	outcomes, err := j.client.StartInstances(ctx, starts)
	if err != nil {
		return err
	}
	for i, o := range outcomes {
		j.rows = append(j.rows, &row{Source: sources[i], InstanceID: o.Instance.InstanceID, State: o.Instance.State, instance: o.Instance})
	}
	return nil
}

func (j *job) startOf(s conversion.Source) (orbit.Start, error) {
	input, err := orbit.JSON(s)
	if err != nil {
		return orbit.Start{}, err
	}
	key, err := j.startKey(s)
	return orbit.Start{StartKey: key, Definition: j.name, Version: conversion.Version, BusinessKey: s.SHA256, Input: input}, err
}

// convert runs the worker and waits for all instances. One that fails stops nothing: the others are finished first.
func (j *job) convert(ctx context.Context, step func()) error {
	ctx, cancel := context.WithTimeoutCause(ctx, j.timeout, fmt.Errorf("not all files were converted within %v", j.timeout))
	defer cancel()
	working, done := context.WithCancel(ctx)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return j.worker().Run(working) })
	group.Go(func() error {
		defer done()
		return j.wait(ctx, step)
	})
	return group.Wait()
}

// waitersMax is how many instances are asked about at the same time: enough to see the ends soon, few enough to leave
// the server to the work.
const waitersMax = 8

func (j *job) wait(ctx context.Context, step func()) error {
	var group errgroup.Group
	group.SetLimit(waitersMax)
	for _, r := range j.rows {
		group.Go(func() error {
			if err := r.settle(ctx, j.client); err != nil {
				return fmt.Errorf("%s: %w", r.Path, err)
			}
			step()
			return nil
		})
	}
	if err := group.Wait(); err != nil && ctx.Err() != nil {
		return fmt.Errorf("%w; run the same command again to go on", context.Cause(ctx))
	} else {
		return err
	}
}

// finish checks, reports and says honestly whether all is well.
func (j *job) finish(stdout io.Writer) error {
	for _, r := range j.rows {
		r.check(j.folders)
	}
	err := j.writeReports()
	if j.succeeded() == len(j.rows) {
		err = errors.Join(err, j.folders.RemoveStaging())
	}
	if !j.jsonOnly {
		j.printTable(stdout)
	}
	if bad := len(j.rows) - j.succeeded(); bad > 0 {
		err = errors.Join(err, fmt.Errorf("%d of %d files are not converted", bad, len(j.rows)))
	}
	return errors.Join(err, j.printSummary(stdout))
}
