package conversion

import (
	"context"
	"fmt"

	"github.com/orbitrun/orbit/sdk/worker"
)

// converters make the result of each kind. They depend on nothing but their arguments: the same file gives the same
// bytes on every machine and in every attempt.
var converters = map[string]struct {
	extension string
	convert   func(content []byte, title string) ([]byte, error)
}{
	KindMarkdown: {"html", markdownPage},
	KindText:     {"html", textPage},
	KindPNG:      {"png", thumbnailPNG},
	KindGIF:      {"png", thumbnailPNG},
	KindJPEG:     {"jpg", thumbnailJPEG},
}

// Convert makes the page or thumbnail and stages it under its digest. It reads the source again, because the worker that
// inspected it may be another one.
func (f *Folders) Convert(ctx context.Context, _ *worker.Task, in ConvertInput) (Artifact, error) {
	converter, known := converters[in.Kind]
	if !known {
		return Artifact{}, permanent(CodeUnsupportedKind, fmt.Errorf("kind %q", in.Kind))
	}
	content, err := f.source(in.Path, in.SHA256)
	if err != nil {
		return Artifact{}, err
	}
	result, err := converter.convert(content, in.Title)
	if err != nil {
		return Artifact{}, err
	}
	// The last moment to stop: the lease may be lost, and then another worker is at it already.
	if ctx.Err() != nil {
		return Artifact{}, context.Cause(ctx)
	}
	out := Artifact{SHA256: digestOf(result), Extension: converter.extension, Bytes: int64(len(result))}
	if err := f.Put(StagingFolder, out.name(), result); err != nil {
		return Artifact{}, worker.Retryable(err)
	}
	return out, nil
}

func (a Artifact) name() string { return a.SHA256 + "." + a.Extension }
