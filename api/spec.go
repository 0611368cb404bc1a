package api

import (
	_ "embed"
	"fmt"
	"net/http"
	"regexp"
	"strconv"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/orbitrun/orbit/api/shape"
)

// Description is api/openapi.yaml, the only description of the surface.
//
//go:embed openapi.yaml
var Description []byte

// operation is what the shell needs to know of one operation, read from the description at start.
type operation struct {
	id      string
	method  string
	path    string // as Echo spells it
	scope   string // empty with public false: any valid key
	public  bool
	admin   bool // served on the admin port only
	success int
	body    *shape.Node // nil: takes none
	bodyMax int64
	params  []parameter
}

type parameter struct {
	name, in string
	required bool
	node     *shape.Node
}

// description is what the shell enforces: operations by method and path, as Echo matches them, and frames of sockets.
type description struct {
	operations map[string]*operation
	frames     *frames
}

func (d *description) of(method, path string) *operation { return d.operations[method+" "+path] }

// readSpec compiles the description. It fails on anything the shell would not enforce.
func readSpec(text []byte) (*description, error) {
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		return nil, fmt.Errorf("openapi.yaml: %w", err)
	}
	out := &description{operations: map[string]*operation{}}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			compiled, err := compile(method, path, op)
			if err != nil {
				return nil, fmt.Errorf("openapi.yaml: %s %s: %w", method, path, err)
			}
			compiled.admin = item.Extensions["x-orbit-port"] == "admin"
			out.operations[method+" "+compiled.path] = compiled
		}
	}
	out.frames, err = readFrames(doc)
	return out, err
}

var pathParameter = regexp.MustCompile(`\{([a-z_]+)\}`)

func compile(method, path string, op *openapi3.Operation) (*operation, error) {
	out := &operation{id: op.OperationID, method: method, path: pathParameter.ReplaceAllString(path, ":$1")}
	if err := out.security(op); err != nil {
		return nil, err
	}
	for status := range op.Responses.Map() {
		if code, err := strconv.Atoi(status); err == nil && code < 300 {
			out.success = code
		}
	}
	for _, p := range op.Parameters {
		node, err := shape.Compile(p.Value.Schema)
		if err != nil {
			return nil, fmt.Errorf("parameter %s: %w", p.Value.Name, err)
		}
		out.params = append(out.params, parameter{p.Value.Name, p.Value.In, p.Value.Required, node})
	}
	return out, out.readBody(op)
}

func (o *operation) security(op *openapi3.Operation) error {
	if op.Security == nil {
		return fmt.Errorf("security is not stated")
	}
	if len(*op.Security) == 0 {
		o.public = true
		return nil
	}
	scopes := (*op.Security)[0]["bearer"]
	if len(*op.Security) != 1 || len(scopes) > 1 {
		return fmt.Errorf("an operation needs exactly one scope, or any key")
	}
	if len(scopes) == 1 {
		o.scope = scopes[0]
	}
	return nil
}

func (o *operation) readBody(op *openapi3.Operation) error {
	if op.RequestBody == nil {
		if o.method == http.MethodPost || o.method == http.MethodPut {
			return fmt.Errorf("a command needs a body")
		}
		return nil
	}
	bytes, ok := op.Extensions["x-orbit-body-bytes"]
	if !ok {
		return fmt.Errorf("x-orbit-body-bytes is not stated")
	}
	limit, err := strconv.ParseFloat(fmt.Sprint(bytes), 64)
	if err != nil {
		return err
	}
	o.bodyMax = int64(limit)
	o.body, err = shape.Compile(op.RequestBody.Value.Content.Get("application/json").Schema)
	return err
}
