package conversion

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	_ "image/gif"  // decoders register themselves
	_ "image/jpeg" // as above
	_ "image/png"  // as above
	"io"
	"net/http"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/orbitrun/orbit/sdk/worker"
)

// What one task may hold in memory.
const (
	sourceBytesMax = 16 << 20
	// pixelsMax stops an image of a few bytes that claims to be a wall: 32 megapixels are 128 MiB decoded.
	pixelsMax  = 32 << 20
	titleRunes = 200
)

var imageKinds = map[string]string{"image/png": KindPNG, "image/jpeg": KindJPEG, "image/gif": KindGIF}

// Inspect says what a file is. The content decides, not the name: a PNG called notes.md is a PNG. Only between Markdown
// and plain text, which no content tells apart, the name does.
func (f *Folders) Inspect(_ context.Context, _ *worker.Task, in Source) (Inspected, error) {
	content, err := f.source(in.Path, in.SHA256)
	if err != nil {
		return Inspected{}, err
	}
	out := Inspected{Bytes: int64(len(content)), Title: cutRunes(path.Base(in.Path), titleRunes)}
	if kind, isImage := imageKinds[http.DetectContentType(content)]; isImage {
		out.Kind = kind
		out.Width, out.Height, err = dimensions(content)
		return out, err
	}
	if !utf8.Valid(content) || bytes.IndexByte(content, 0) >= 0 {
		return Inspected{}, permanent(CodeUnsupportedKind, fmt.Errorf("%s is neither text in UTF-8 nor PNG, JPEG or GIF", in.Path))
	}
	out.Kind = KindText
	if extension := strings.ToLower(path.Ext(in.Path)); extension == ".md" || extension == ".markdown" {
		out.Kind = KindMarkdown
		if title := markdownTitle(content); title != "" {
			out.Title = cutRunes(title, titleRunes)
		}
	}
	return out, nil
}

// source reads a file and makes sure that it is still the one the instance was started for.
func (f *Folders) source(name, digest string) ([]byte, error) {
	if !filepath.IsLocal(name) {
		return nil, permanent(CodePathOutside, fmt.Errorf("the path %q leaves the input folder", name))
	}
	file, err := f.In.Open(name)
	if err != nil {
		return nil, trouble(err, CodeSourceMissing)
	}
	content, err := io.ReadAll(io.LimitReader(file, sourceBytesMax+1))
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, worker.Retryable(err)
	}
	if len(content) > sourceBytesMax {
		return nil, permanent(CodeTooLarge, fmt.Errorf("%s has more than %d bytes", name, sourceBytesMax))
	}
	if found := digestOf(content); found != digest {
		return nil, permanent(CodeSourceChanged, fmt.Errorf("%s has the digest %.12s…, the instance is about %.12s…", name, found, digest))
	}
	return content, nil
}

func dimensions(content []byte) (width, height int, err error) {
	config, _, err := image.DecodeConfig(bytes.NewReader(content))
	if err != nil {
		return 0, 0, permanent(CodeDamaged, err)
	}
	if config.Width < 1 || config.Height < 1 {
		return 0, 0, permanent(CodeDamaged, fmt.Errorf("an image of %d × %d pixels", config.Width, config.Height))
	}
	if config.Width > pixelsMax/config.Height {
		return 0, 0, permanent(CodeTooLarge, fmt.Errorf("%d × %d pixels are more than %d", config.Width, config.Height, pixelsMax))
	}
	return config.Width, config.Height, nil
}

func cutRunes(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}
