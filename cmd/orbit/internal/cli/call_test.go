package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// session opens a session against a server of the test's own.
func session(t *testing.T, handler http.HandlerFunc) *Session {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	t.Setenv("ORBIT_KEY", "orb_secret")
	s := &Settings{URL: server.URL, Retries: 3, Config: filepath.Join(t.TempDir(), "none")}
	cmd := &cobra.Command{}
	cmd.SetErr(io.Discard)
	cmd.SetOut(io.Discard)
	on, err := s.open(cmd)
	if err != nil {
		t.Fatal(err)
	}
	return on
}

func submit(on *Session, body string) Request {
	return func(ctx context.Context) (*http.Response, error) {
		return on.API.SubmitTaskWithBody(ctx, nil, "application/json", strings.NewReader(body))
	}
}

// Trouble that passes is met with the same bytes, so with the same key.
func TestTheSameBytesAgain(t *testing.T) {
	var bodies []string
	on := session(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies = append(bodies, string(body))
		if r.Header.Get("Authorization") != "Bearer orb_secret" {
			t.Errorf("authorization %q", r.Header.Get("Authorization"))
		}
		switch len(bodies) {
		case 1:
			w.WriteHeader(http.StatusServiceUnavailable)
		case 2: // the connection breaks in the middle of an answer
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte("{"))
		default:
			w.Header().Set("Orbit-Replayed", "true")
			_, _ = w.Write([]byte(`{"a": 1.10}`))
		}
	})
	answer, err := on.Again(t.Context(), submit(on, `{"submit_key":"k"}`))
	if err != nil || string(answer.Body) != `{"a": 1.10}` || !answer.Replayed {
		t.Fatalf("%s %v %v", answer.Body, answer.Replayed, err)
	}
	if len(bodies) != 3 || bodies[0] != bodies[1] || bodies[1] != bodies[2] {
		t.Errorf("sent %q", bodies)
	}
}

func TestWhatIsNotRepeated(t *testing.T) {
	for _, status := range []int{400, 403, 409, 500, 501} {
		calls := 0
		on := session(t, func(w http.ResponseWriter, _ *http.Request) { calls++; w.WriteHeader(status) })
		if _, err := on.Again(t.Context(), submit(on, "{}")); err == nil || calls != 1 {
			t.Errorf("%d: %d calls, %v", status, calls, err)
		}
	}
}

// A redirect is not followed: the key and the command stay here.
func TestARedirectIsNotFollowed(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("followed") }))
	defer elsewhere.Close()
	on := session(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
	})
	var refused *Refusal
	if _, err := on.Again(t.Context(), submit(on, "{}")); !errors.As(err, &refused) || refused.Code != "http_307" {
		t.Error(err)
	}
}

// A server that says when to come back is not asked earlier.
func TestTheAdviceIsObeyed(t *testing.T) {
	begun, calls := time.Now(), 0
	on := session(t, func(w http.ResponseWriter, _ *http.Request) {
		if calls++; calls == 1 {
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = w.Write([]byte(`{"type":"/problems/queue_full","title":"full","status":429,"code":"queue_full","retry_after_ms":600}`))
		}
	})
	_, err := on.Again(t.Context(), submit(on, "{}"))
	if took := time.Since(begun); err != nil || took < 600*time.Millisecond {
		t.Errorf("came back after %s, %v", took, err)
	}
}

// A payload travels as the bytes it is; a text is escaped once.
func TestBodiesKeepPayloads(t *testing.T) {
	payload := "{ \"n\" : 1.10,\n\"e\":9007199254740993, \"s\":\"<&>\\u00e9\" }"
	got, err := new(Body).Text("key", "a\"<b").Text("none", "").Int("i", -3).Millis("delay_ms", 1500*time.Millisecond).Raw("input", []byte(payload)).Flag("off", false).Bytes()
	want := `{"key":"a\"<b","i":-3,"delay_ms":1500,"input":` + payload + `}`
	if err != nil || string(got) != want {
		t.Errorf("%s, %v\nwant %s", got, err, want)
	}
	if _, err := new(Body).Text("key", "a\xff").Bytes(); ExitCodeOf(err) != ExitUsage {
		t.Errorf("broken UTF-8: %v", err)
	}
	if _, err := new(Body).Millis("delay_ms", time.Microsecond).Bytes(); ExitCodeOf(err) != ExitUsage {
		t.Errorf("less than a millisecond: %v", err)
	}
	page := Page{Items: nil, NextCursor: "c"}
	page.Items = append(page.Items, []byte(`{"n": 1.0}`), []byte(`2`))
	if got := page.body(); !bytes.Equal(got, []byte(`{"items":[{"n": 1.0},2],"next_cursor":"c"}`)) {
		t.Errorf("%s", got)
	}
}
