package wire

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/orbitrun/orbit/engine/exact"
	"github.com/orbitrun/orbit/engine/pulse"
)

// Append writes v, a generated model or a pointer to one, as JSON. It knows what the models are made of: structs,
// slices, pointers, texts, integers, booleans, times and raw JSON. Any other type is a bug and panics.
func Append(dst []byte, v any) []byte {
	value := reflect.ValueOf(v)
	return writerOf(value.Type())(dst, value)
}

type writer func(dst []byte, v reflect.Value) []byte

var (
	writers sync.Map // reflect.Type → writer
	rawType = reflect.TypeFor[json.RawMessage]()
	timeOf  = reflect.TypeFor[time.Time]()
)

func writerOf(t reflect.Type) writer {
	if w, ok := writers.Load(t); ok {
		return w.(writer)
	}
	w := build(t)
	writers.Store(t, w)
	return w
}

func build(t reflect.Type) writer {
	switch t {
	case rawType:
		return appendRaw
	case timeOf:
		return appendTime
	}
	switch t.Kind() {
	case reflect.String:
		return func(dst []byte, v reflect.Value) []byte { return exact.String(v.String()).Append(dst) }
	case reflect.Bool:
		return func(dst []byte, v reflect.Value) []byte { return strconv.AppendBool(dst, v.Bool()) }
	case reflect.Int, reflect.Int32, reflect.Int64:
		return func(dst []byte, v reflect.Value) []byte { return strconv.AppendInt(dst, v.Int(), 10) }
	case reflect.Pointer:
		element := writerOf(t.Elem())
		return func(dst []byte, v reflect.Value) []byte { return element(dst, v.Elem()) }
	case reflect.Slice:
		return list(writerOf(t.Elem()))
	case reflect.Struct:
		return object(t)
	}
	panic("wire: no way to write " + t.String())
}

func appendRaw(dst []byte, v reflect.Value) []byte {
	if v.Len() == 0 {
		return append(dst, "null"...)
	}
	return append(dst, v.Bytes()...)
}

func appendTime(dst []byte, v reflect.Value) []byte {
	dst = append(dst, '"')
	dst = append(dst, pulse.Time(v.Interface().(time.Time))...)
	return append(dst, '"')
}

func list(item writer) writer {
	return func(dst []byte, v reflect.Value) []byte {
		dst = append(dst, '[')
		for i := range v.Len() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = item(dst, v.Index(i))
		}
		return append(dst, ']')
	}
}

// member is one field of a model: its place, its quoted name with the colon, and whether its zero is left out.
type member struct {
	index     int
	name      string
	omitEmpty bool
	write     writer
}

func object(t reflect.Type) writer {
	members := membersOf(t)
	return func(dst []byte, v reflect.Value) []byte {
		dst = append(dst, '{')
		empty := len(dst)
		for i := range members {
			m := &members[i]
			field := v.Field(m.index)
			if m.omitEmpty && isEmpty(field) {
				continue
			}
			if len(dst) > empty {
				dst = append(dst, ',')
			}
			dst = m.write(append(dst, m.name...), field)
		}
		return append(dst, '}')
	}
}

func membersOf(t reflect.Type) []member {
	var members []member
	for i := range t.NumField() {
		name, options, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		members = append(members, member{i, string(exact.String(name).Append(nil)) + ":",
			strings.Contains(options, "omitempty"), writerOf(t.Field(i).Type)})
	}
	return members
}

// isEmpty follows encoding/json: absent pointers and lists, empty texts, zero numbers, false.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}
