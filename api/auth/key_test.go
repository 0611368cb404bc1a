package auth

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestKeyTextIsReadBackAndNothingElseIs(t *testing.T) {
	k := Mint(0x1234, 1<<63-1)
	text := k.Text()
	got, ok := Parse(text)
	if !ok || got != k {
		t.Fatalf("read %v from %s", got, text)
	}
	for i := range text { // any single changed character is noticed
		for _, c := range []byte{'0', 'A', 'z', '_'} {
			changed := text[:i] + string(c) + text[i+1:]
			if _, ok := Parse(changed); ok && changed != text {
				t.Fatalf("accepted %s for %s", changed, text)
			}
		}
	}
	for _, wrong := range []string{"", "orb_", text[:len(text)-1], text + "0", strings.ToUpper(text), " " + text, "Bearer " + text} {
		if _, ok := Parse(wrong); ok {
			t.Errorf("accepted %q", wrong)
		}
	}
}

func TestAKeyInALogBetraysNothing(t *testing.T) {
	k := Mint(1, 2)
	secret := strings.SplitN(k.Text(), "_", 3)[2]
	for _, format := range []string{"%v", "%s", "%+v", "%#v"} {
		if shown := fmt.Sprintf(format, k); strings.Contains(shown, secret[:8]) {
			t.Errorf("%s shows %s", format, shown)
		}
	}
	if text, err := json.Marshal(map[string]any{"key": k}); err != nil || strings.Contains(string(text), secret[:8]) || !strings.Contains(string(text), "(secret)") {
		t.Errorf("JSON shows %s %v", text, err)
	}
	if fmt.Sprint(Issued{Key: k}) == "" || strings.Contains(fmt.Sprintf("%v", Issued{Key: k}), secret[:8]) {
		t.Error("an issued key shows its secret")
	}
}

func TestMatchesOnlyItsOwnHash(t *testing.T) {
	a, b := Mint(1, 2), Mint(1, 2)
	hash := a.Hash()
	if !a.Matches(hash[:]) || b.Matches(hash[:]) || a.Matches(nil) || a.Matches(hash[:31]) {
		t.Error("a hash matched another secret, or not its own")
	}
}

func TestIDsHaveOneSpelling(t *testing.T) {
	id := NewID()
	if got, ok := ParseID("app", ApplicationText(id)); !ok || got != id {
		t.Error("an id was not read back")
	}
	for _, wrong := range []string{CredentialText(id), "app_", "app_" + strings.Repeat("F", 16), "app_" + strings.Repeat("f", 16), "app_+123456789012345"} {
		if _, ok := ParseID("app", wrong); ok {
			t.Errorf("accepted %q", wrong)
		}
	}
}
