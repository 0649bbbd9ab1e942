// Package schema has the JSON schemas of what rdmaprobe prints, for the tests
// that check its output: on fakes and on real kernels.
package schema

import (
	"embed"
	"encoding/json"
	"fmt"
)

//go:embed *.json
var files embed.FS

// Schema is the part of JSON Schema that is used.
type Schema struct {
	Schema      string             `json:"$schema,omitempty"`
	Title       string             `json:"title,omitempty"`
	Description string             `json:"description,omitempty"`
	Type        string             `json:"type"`
	Format      string             `json:"format,omitempty"`
	Properties  map[string]*Schema `json:"properties,omitempty"`
	Required    []string           `json:"required,omitempty"`
	Additional  *bool              `json:"additionalProperties,omitempty"`
	Items       *Schema            `json:"items,omitempty"`
	Order       []string           `json:"-"` // of Properties, for tables
}

// Check says what is wrong with a JSON document by the schema of that name, such
// as "list"; nil for nothing.
func Check(name string, doc []byte) error {
	text, err := files.ReadFile(name + ".json")
	if err != nil {
		return err
	}
	var s Schema
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	var v any
	if err := json.Unmarshal(doc, &v); err != nil {
		return err
	}
	return s.check("document", v)
}

// check says what is wrong with a value.
func (s *Schema) check(path string, v any) error {
	switch v := v.(type) {
	case string:
		return s.wantType(path, "string")
	case bool:
		return s.wantType(path, "boolean")
	case float64:
		if s.Type == "number" {
			return nil
		}
		if v != float64(int64(v)) {
			return fmt.Errorf("%s: %v is no integer", path, v)
		}
		return s.wantType(path, "integer")
	case []any:
		for i, e := range v {
			if s.Items == nil {
				break
			}
			if err := s.Items.check(fmt.Sprintf("%s[%d]", path, i), e); err != nil {
				return err
			}
		}
		return s.wantType(path, "array")
	case map[string]any:
		return s.checkObject(path, v)
	}
	return fmt.Errorf("%s: %T", path, v)
}

func (s *Schema) checkObject(path string, v map[string]any) error {
	if err := s.wantType(path, "object"); err != nil {
		return err
	}
	for _, name := range s.Required {
		if _, ok := v[name]; !ok {
			return fmt.Errorf("%s: %s is missing", path, name)
		}
	}
	for name, e := range v {
		p := s.Properties[name]
		if p == nil {
			return fmt.Errorf("%s: %s is not in the schema", path, name)
		}
		if err := p.check(path+"."+name, e); err != nil {
			return err
		}
	}
	return nil
}

func (s *Schema) wantType(path, is string) error {
	if s.Type != is {
		return fmt.Errorf("%s: is %s, want %s", path, is, s.Type)
	}
	return nil
}
