package conversion

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orbitrun/orbit/examples/file-conversion/samples"
)

func sample(t *testing.T, i int) []byte {
	t.Helper()
	_, content, err := samples.Picture(i)
	must(t, err)
	return content
}

// wall is a small file that claims more pixels than fit into memory.
func wall(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	must(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))))
	content := b.Bytes()
	copy(content[16:24], []byte{0, 1, 0, 0, 0, 1, 0, 0}) // IHDR: 65536 × 65536
	// The checksum of IHDR is over its type and 13 bytes.
	copy(content[29:33], checksum(content[12:29]))
	return content
}

func TestInspectJudgesByContent(t *testing.T) {
	pictureNo := map[string]int{KindPNG: 0, KindJPEG: 1, KindGIF: 2}
	d := newDesk(t)
	for _, c := range []struct {
		name    string
		content []byte
		want    Inspected
		code    string
	}{
		{"a.md", []byte("intro\n\n## Second\n\n# The *first*\n"), Inspected{Kind: KindMarkdown, Title: "The first"}, ""},
		{"setext.MARKDOWN", []byte("Title & `code`\n===\n"), Inspected{Kind: KindMarkdown, Title: "Title & code"}, ""},
		{"none.md", []byte("no heading"), Inspected{Kind: KindMarkdown, Title: "none.md"}, ""},
		{"empty.md", nil, Inspected{Kind: KindMarkdown, Title: "empty.md"}, ""},
		{"deep/notes.txt", []byte("# no heading here\n"), Inspected{Kind: KindText, Title: "notes.txt"}, ""},
		{"schema.sql", []byte("CREATE TABLE größe (id INT);"), Inspected{Kind: KindText, Title: "schema.sql"}, ""},
		{"picture.png", sample(t, 0), Inspected{Kind: KindPNG, Title: "picture.png", Width: 480, Height: 360}, ""},
		{"picture.md", sample(t, 1), Inspected{Kind: KindJPEG, Title: "picture.md", Width: 520, Height: 360}, ""},
		{"picture", sample(t, pictureNo[KindGIF]), Inspected{Kind: KindGIF, Title: "picture", Width: 560, Height: 360}, ""},
		{"paper.pdf", []byte("%PDF-1.7\n\x00\xff"), Inspected{}, CodeUnsupportedKind},
		{"latin1.txt", []byte("gr\xf6\xdfe"), Inspected{}, CodeUnsupportedKind},
		{"nul.txt", []byte("a\x00b"), Inspected{}, CodeUnsupportedKind},
		{"cut.png", sample(t, 0)[:20], Inspected{}, CodeDamaged},
		{"wall.png", wall(t), Inspected{}, CodeTooLarge},
		{"huge.txt", bytes.Repeat([]byte("x"), sourceBytesMax+1), Inspected{}, CodeTooLarge},
		{"long.md", []byte("# " + strings.Repeat("ö", 300)), Inspected{Kind: KindMarkdown, Title: strings.Repeat("ö", 199) + "…"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			source := d.file(c.name, c.content)
			got, err := d.inspect(source)
			if code(err) != c.code {
				t.Fatalf("failed with %q (%v), want %q", code(err), err, c.code)
			}
			if err != nil {
				return
			}
			c.want.Bytes = int64(len(c.content))
			if got != c.want {
				t.Errorf("got %+v\nwant %+v", got, c.want)
			}
			if again, _ := d.inspect(source); again != got {
				t.Errorf("a second attempt says %+v", again)
			}
		})
	}
}

// A repetition cannot help when the file is not the one the instance is about.
func TestInspectRefusesAnotherFile(t *testing.T) {
	d := newDesk(t)
	source := d.file("a.md", []byte("before"))
	d.file("a.md", []byte("after"))
	if _, err := d.inspect(source); code(err) != CodeSourceChanged {
		t.Errorf("a changed file: %v", err)
	}
	must(t, os.Remove(filepath.Join(d.in, "a.md")))
	if _, err := d.inspect(source); code(err) != CodeSourceMissing {
		t.Errorf("a removed file: %v", err)
	}
}

// A path comes from whoever may start instances; the handlers read nothing outside the folder they were given.
func TestInspectStaysInsideTheFolder(t *testing.T) {
	d := newDesk(t)
	secret := filepath.Join(t.TempDir(), "secret")
	must(t, os.WriteFile(secret, []byte("secret"), 0o600))
	must(t, os.Symlink(secret, filepath.Join(d.in, "link.txt")))
	for _, path := range []string{"../secret", "/etc/hosts", "a/../../b", ""} {
		if _, err := d.inspect(Source{Path: path, SHA256: digestOf([]byte("secret"))}); code(err) != CodePathOutside {
			t.Errorf("%q: %v", path, err)
		}
	}
	if _, err := d.inspect(Source{Path: "link.txt", SHA256: digestOf([]byte("secret"))}); err == nil {
		t.Error("a symbolic link led outside")
	}
}
