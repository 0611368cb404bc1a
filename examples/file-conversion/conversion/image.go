package conversion

import (
	"bytes"
	"image"
	"image/jpeg"
	"image/png"

	"golang.org/x/image/draw"
)

const (
	thumbnailSide = 320
	jpegQuality   = 85
)

func thumbnailPNG(content []byte, _ string) ([]byte, error) {
	return thumbnail(content, func(b *bytes.Buffer, i image.Image) error {
		return (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(b, i)
	})
}

func thumbnailJPEG(content []byte, _ string) ([]byte, error) {
	return thumbnail(content, func(b *bytes.Buffer, i image.Image) error {
		return jpeg.Encode(b, i, &jpeg.Options{Quality: jpegQuality})
	})
}

// thumbnail fits an image into a square and never enlarges it. Of a GIF it is the first frame.
func thumbnail(content []byte, encode func(*bytes.Buffer, image.Image) error) ([]byte, error) {
	if _, _, err := dimensions(content); err != nil {
		return nil, err // before the pixels are decoded
	}
	picture, _, err := image.Decode(bytes.NewReader(content))
	if err != nil {
		return nil, permanent(CodeDamaged, err)
	}
	small := image.NewNRGBA(fitted(picture.Bounds()))
	draw.CatmullRom.Scale(small, small.Bounds(), picture, picture.Bounds(), draw.Src, nil)
	var b bytes.Buffer
	if err := encode(&b, small); err != nil {
		return nil, permanent(CodeDamaged, err)
	}
	return b.Bytes(), nil
}

func fitted(r image.Rectangle) image.Rectangle {
	width, height := r.Dx(), r.Dy()
	if longest := max(width, height); longest > thumbnailSide {
		width, height = max(1, width*thumbnailSide/longest), max(1, height*thumbnailSide/longest)
	}
	return image.Rect(0, 0, width, height)
}
