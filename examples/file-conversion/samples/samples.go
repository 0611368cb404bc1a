// Package samples draws small pictures, the same bytes every time, so that the example has images to convert without
// keeping binary files in the repository.
package samples

import (
	"bytes"
	"fmt"
	"image"
	"image/color/palette"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/cmplx"
	"os"
	"path/filepath"
)

// Write puts n pictures into folder: PNG, JPEG and GIF in turn, each of another Julia set.
func Write(folder string, n int) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for i := range n {
		name, content, err := Picture(i)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

var encoders = []struct {
	extension string
	encode    func(*bytes.Buffer, *image.Paletted) error
}{
	{"png", func(b *bytes.Buffer, i *image.Paletted) error { return png.Encode(b, i) }},
	{"jpg", func(b *bytes.Buffer, i *image.Paletted) error { return jpeg.Encode(b, i, nil) }},
	{"gif", func(b *bytes.Buffer, i *image.Paletted) error { return gif.Encode(b, i, nil) }},
}

// Picture is number i with the name of its file.
func Picture(i int) (name string, content []byte, err error) {
	e := encoders[i%len(encoders)]
	var b bytes.Buffer
	err = e.encode(&b, julia(complex(-0.8+0.05*float64(i%9), 0.156+0.07*float64(i/3%7)), 480+40*(i%4), 360))
	return fmt.Sprintf("julia-%02d.%s", i, e.extension), b.Bytes(), err
}

func julia(c complex128, width, height int) *image.Paletted {
	picture := image.NewPaletted(image.Rect(0, 0, width, height), palette.Plan9)
	for y := range height {
		for x := range width {
			z := complex(3*float64(x)/float64(width)-1.5, 2.4*float64(y)/float64(height)-1.2)
			picture.SetColorIndex(x, y, escape(z, c))
		}
	}
	return picture
}

// escape counts how soon z leaves the circle; 0 is never.
func escape(z, c complex128) uint8 {
	for n := range 120 {
		if cmplx.Abs(z) > 2 {
			return uint8(1 + 2*n)
		}
		z = z*z + c
	}
	return 0
}
