package orbit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"time"
)

// payload is one member whose bytes are sent as they stand. encoding/json would compact and escape a json.RawMessage,
// and the server promises to keep exactly what the caller wrote.
type payload struct {
	name string
	text json.RawMessage
}

// object writes plain and then the payloads into one JSON object. plain is a struct without payload members. An empty
// payload is left out. Text that is not JSON is refused here, because in a batch it would spoil its neighbours.
func object(plain any, payloads ...payload) ([]byte, error) {
	text, err := json.Marshal(plain)
	if err != nil {
		return nil, err
	}
	text = text[:len(text)-1]
	for _, p := range payloads {
		if len(p.text) == 0 {
			continue
		}
		if !json.Valid(p.text) {
			return nil, fmt.Errorf("orbit: %s is not JSON", p.name)
		}
		if len(text) > 1 {
			text = append(text, ',')
		}
		text = append(append(append(append(text, '"'), p.name...), `":`...), p.text...)
	}
	return append(text, '}'), nil
}

// list writes {"items":[…]} with what is already text.
func list(items [][]byte) []byte {
	size := len(`{"items":[]}`) + len(items)
	for _, item := range items {
		size += len(item)
	}
	text := append(make([]byte, 0, size), `{"items":[`...)
	for i, item := range items {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, item...)
	}
	return append(text, `]}`...)
}

// JSON writes a value as a payload. A json.RawMessage is taken as it is; nil is null.
func JSON(value any) (json.RawMessage, error) {
	if raw, ok := value.(json.RawMessage); ok {
		if !json.Valid(raw) {
			return nil, fmt.Errorf("orbit: the raw message is not JSON")
		}
		return raw, nil
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, fmt.Errorf("orbit: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Decode reads a payload into T. Numbers that meet an interface become json.Number, so no digit is lost (T21). T =
// json.RawMessage copies nothing. An empty payload is null.
func Decode[T any](raw json.RawMessage) (T, error) {
	var value T
	if same, ok := any(&value).(*json.RawMessage); ok {
		*same = raw
		return value, nil
	}
	if len(raw) == 0 {
		raw = json.RawMessage("null")
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return value, fmt.Errorf("orbit: the payload does not fit %v: %w", reflect.TypeFor[T](), err)
	}
	return value, nil
}

// milliseconds rounds up, so that a short time never becomes none.
func milliseconds(d time.Duration) int64 {
	return int64((d + time.Millisecond - 1) / time.Millisecond)
}
