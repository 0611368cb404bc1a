package api

import (
	"context"
	"time"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/store"
	"github.com/orbitrun/orbit/api/tx"
	"github.com/orbitrun/orbit/engine/cron"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// PreviewSchedule lists the next slots of a timing, and what daylight saving does to it on the way. It stores nothing.
func (s *Server) PreviewSchedule(ctx context.Context, r httpapi.PreviewScheduleRequestObject) (httpapi.PreviewScheduleResponseObject, error) {
	spec := timingSpec(&r.Body.Timing)
	timing, refusal := spec.Timing()
	if refusal != nil {
		return nil, refusal
	}
	after, err := s.previewFrom(ctx, r.Body.After)
	if err != nil {
		return nil, err
	}
	zone := time.UTC
	if spec.Kind == store.ScheduleCron {
		zone, _ = store.ScheduleZone(spec.Zone)
	}
	count := int(r.Body.Count)
	if count == 0 {
		count = 10
	}
	out := httpapi.PreviewSchedule200JSONResponse{Timing: pointer(timingModel(spec))}
	last := after
	for slot, ok := timing.Next(after); ok && len(out.Items) < count; slot, ok = timing.Next(slot) {
		out.Items = append(out.Items, httpapi.SchedulePreviewSlot{At: slot, Local: slot.In(zone).Format(time.RFC3339)})
		last = slot
	}
	out.Silent = previewSilences(timing.Silent(after, last.Add(time.Microsecond)))
	return out, nil
}

// previewSilencesMax bounds what is told of a rare timing that passes many nights.
const previewSilencesMax = 1000

func previewSilences(silences []cron.Silence) []httpapi.SchedulePreviewSilence {
	var out []httpapi.SchedulePreviewSilence
	for _, s := range silences[:min(len(silences), previewSilencesMax)] {
		item := httpapi.SchedulePreviewSilence{Local: s.Local, At: s.At, Why: "GAP"}
		if s.Repeat {
			item.Why = "REPEAT"
		}
		if !s.Into.IsZero() {
			item.MovedTo = pointer(s.Into)
		}
		out = append(out, item)
	}
	return out
}

// previewFrom is the given instant, or now by the database's clock.
func (s *Server) previewFrom(ctx context.Context, given *time.Time) (now time.Time, err error) {
	if given != nil {
		return given.UTC(), nil
	}
	err = s.Writer.Run(ctx, auth.CallerOf(ctx).Namespace, "preview_schedule", func(ctx context.Context, b tx.Begun) (err error) {
		now, err = b.Clock(ctx)
		return err
	})
	return now, err
}
