package conversion

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func checksum(b []byte) []byte {
	return binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(b))
}

const manual = "# Manual\n\n## Start & stop\n\nSee [the rest](#rest).\n\n```go\nfunc main() {}\n```\n\n" +
	"| a | b |\n|---|---|\n| 1 | ~~2~~ |\n\n### Rest\n\n- [x] done\n\n## End\n\n<script>alert(1)</script>\n"

func TestMarkdownBecomesAPage(t *testing.T) {
	d := newDesk(t)
	page := string(d.read(d.publish(d.artifact(d.file("manual.md", []byte(manual))))))
	for _, want := range []string{
		"<title>Manual</title>", `<h2 id="start--stop">Start &amp; stop</h2>`,
		`<a class="level-2" href="#start--stop">Start &amp; stop</a>`, `<a class="level-3" href="#rest">Rest</a>`,
		"<table>", "<del>2</del>", `<input checked="" disabled="" type="checkbox"`, `<span style="color:`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	if strings.Contains(page, "<script") {
		t.Error("a script of the source reached the page")
	}
	if t.Failed() {
		t.Log(page)
	}
}

func TestTextIsEscaped(t *testing.T) {
	d := newDesk(t)
	page := string(d.read(d.publish(d.artifact(d.file("<b>.txt", []byte("a < b && <script>\n\ttab"))))))
	if want := "<pre>a &lt; b &amp;&amp; &lt;script&gt;\n\ttab</pre>"; !strings.Contains(page, want) {
		t.Errorf("no %s in\n%s", want, page)
	}
	if !strings.Contains(page, "<title>&lt;b&gt;.txt</title>") {
		t.Error("the name is not escaped")
	}
}

func TestPicturesBecomeThumbnails(t *testing.T) {
	d := newDesk(t)
	for i, want := range []struct {
		extension, format string
		size              image.Point
	}{
		{"png", "png", image.Pt(320, 240)}, {"jpg", "jpeg", image.Pt(320, 221)}, {"png", "png", image.Pt(320, 205)},
	} {
		made := d.artifact(d.file("picture", sample(t, i)))
		picture, format, err := image.Decode(bytes.NewReader(d.read(d.publish(made))))
		must(t, err)
		if made.Extension != want.extension || format != want.format || picture.Bounds().Size() != want.size {
			t.Errorf("picture %d: %s, %s, %v, want %+v", i, made.Extension, format, picture.Bounds().Size(), want)
		}
		if colours(picture) < 10 {
			t.Errorf("picture %d is empty", i)
		}
	}
}

func TestSmallPicturesStaySmall(t *testing.T) {
	for _, c := range []struct{ from, want image.Point }{
		{image.Pt(16, 9), image.Pt(16, 9)}, {image.Pt(320, 320), image.Pt(320, 320)},
		{image.Pt(3200, 2), image.Pt(320, 1)}, {image.Pt(100, 641), image.Pt(49, 320)},
	} {
		if got := fitted(image.Rectangle{Max: c.from}).Size(); got != c.want {
			t.Errorf("%v becomes %v, want %v", c.from, got, c.want)
		}
	}
}

func colours(picture image.Image) int {
	seen := map[any]bool{}
	for y := range picture.Bounds().Dy() {
		for x := range picture.Bounds().Dx() {
			seen[picture.At(x, y)] = true
		}
	}
	return len(seen)
}

// Trouble with the output folder may pass, so it must not end the instance.
func TestALostOutputFolderIsRetried(t *testing.T) {
	d := newDesk(t)
	source := d.file("a.txt", []byte("text"))
	must(t, os.RemoveAll(filepath.Join(d.out, StagingFolder)))
	in := ConvertInput{Path: source.Path, SHA256: source.SHA256, Kind: KindText, Title: "a"}
	if _, err := d.folders.Convert(t.Context(), nil, in); code(err) != "retryable" {
		t.Fatalf("without a folder to write to: %v", err)
	}
	must(t, d.folders.makeFolders())
	if _, err := d.folders.Convert(t.Context(), nil, in); err != nil {
		t.Errorf("after it came back: %v", err)
	}
}
