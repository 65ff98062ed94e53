package live

import (
	"encoding/json"
	"net/http"
	"reflect"
	"sort"
	"strings"
	"testing"

	aldaba "aldaba.dev/kit"
	"aldaba.dev/kit/receiver"
)

// document is the OpenAPI document of the running service.
type document struct{ root object }

func readDocument(t *testing.T) document {
	t.Helper()
	response, err := http.Get(readDev(t).BaseURL + "/openapi.json")
	check(t, err)
	defer response.Body.Close()
	var root object
	check(t, json.NewDecoder(response.Body).Decode(&root))
	return document{root}
}

func (d document) resolve(node interface{}) object {
	schema, _ := node.(object)
	for {
		reference, isReference := schema["$ref"].(string)
		if !isReference {
			return schema
		}
		node = d.root
		for _, part := range strings.Split(strings.TrimPrefix(reference, "#/"), "/") {
			node = node.(object)[part]
		}
		schema, _ = node.(object)
	}
}

// at follows members of the document, and references on the way.
func (d document) at(t *testing.T, from object, names ...string) object {
	t.Helper()
	node := from
	for _, name := range names {
		if node = d.resolve(node[name]); node == nil {
			t.Fatalf("the document lacks %s of %v", name, names)
		}
	}
	return node
}

// body is the schema of the body of a request or response; of the items where it is an array.
func (d document) body(t *testing.T, holder object) object {
	t.Helper()
	schema := d.at(t, holder, "content", "application/json", "schema")
	if schema["type"] == "array" {
		schema = d.at(t, schema, "items")
	}
	return schema
}

// members are the properties of a schema, with those of all its parts.
func (d document) members(schema object) map[string]interface{} {
	found := map[string]interface{}{}
	for _, kind := range []string{"allOf", "oneOf", "anyOf"} {
		parts, _ := schema[kind].([]interface{})
		for _, part := range parts {
			for name, value := range d.members(d.resolve(part)) {
				found[name] = value
			}
		}
	}
	properties, _ := schema["properties"].(object)
	for name, value := range properties {
		if found[name] == nil {
			found[name] = value
		}
	}
	return found
}

// compare checks that a type of the kit has exactly the members of the schema.
func (d document) compare(t *testing.T, schema object, value interface{}) {
	t.Helper()
	d.compareType(t, schema, reflect.TypeOf(value), map[reflect.Type]bool{})
}

func (d document) compareType(t *testing.T, schema object, kind reflect.Type, seen map[reflect.Type]bool) {
	t.Helper()
	if seen[kind] {
		return
	}
	seen[kind] = true
	members := d.members(schema)
	var wanted, found []string
	for name := range members {
		wanted = append(wanted, name)
	}
	for index := 0; index < kind.NumField(); index++ {
		field := kind.Field(index)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		found = append(found, name)
		d.compareField(t, members[name], field.Type, seen)
	}
	sort.Strings(wanted)
	sort.Strings(found)
	if strings.Join(wanted, " ") != strings.Join(found, " ") {
		t.Errorf("%s has %v, the document %v", kind, found, wanted)
	}
}

// compareField goes into the types of members.
func (d document) compareField(t *testing.T, node interface{}, kind reflect.Type, seen map[reflect.Type]bool) {
	t.Helper()
	schema := d.resolve(node)
	for kind.Kind() == reflect.Pointer || kind.Kind() == reflect.Slice {
		if kind.Kind() == reflect.Slice && schema != nil {
			schema = d.resolve(schema["items"])
		}
		kind = kind.Elem()
	}
	if kind.Kind() == reflect.Struct && strings.HasPrefix(kind.PkgPath(), "aldaba.dev/") && len(d.members(schema)) > 0 {
		d.compareType(t, schema, kind, seen)
	}
}

func TestTypesMatchTheDocument(t *testing.T) {
	d := readDocument(t)
	const customers, invoicing = "/accounting/api/customers", "/invoicing/api/webhooks"
	operation := func(path, method string) object { return d.at(t, d.root, "paths", path, method) }
	ok := func(path, method string) object {
		return d.body(t, d.at(t, operation(path, method), "responses", "200"))
	}
	request := func(path, method string) object { return d.body(t, d.at(t, operation(path, method), "requestBody")) }

	d.compare(t, ok("/accounting/api/companies", "get"), aldaba.Company{})
	d.compare(t, ok(customers, "get"), aldaba.Customer{})
	d.compare(t, ok("/accounting/api/accounts/{correlationId}", "get"), aldaba.Account{})
	refused := d.body(t, d.at(t, operation(customers, "get"), "responses", "400"))
	d.compare(t, d.at(t, refused, "properties", "errors", "items"), aldaba.FieldError{})
	for name := range d.members(refused) {
		if !strings.Contains(" statusCode code message requestId errors ", " "+name+" ") {
			t.Errorf("the kit does not read %s of an error", name)
		}
	}
	d.compare(t, ok("/accounting/api/suppliers", "get"), aldaba.Record{})
	d.compare(t, ok("/payroll/api/companies", "get"), aldaba.PayrollCompany{})
	d.compare(t, ok(customers+"/changes", "get"), aldaba.Change{})
	d.compare(t, request(customers+"/webhooks/subscribe", "post"), aldaba.Subscription{})
	d.compare(t, ok(customers+"/webhooks/subscribe", "post"), aldaba.OperationResult{})
	d.compare(t, ok(customers+"/webhooks/{webhookId}", "get"), aldaba.Webhook{})
	d.compare(t, ok(customers+"/webhooks/secret/{webhookId}", "put"), aldaba.RotatedSecret{})
	d.compare(t, ok(customers+"/webhooks/{webhookId}/deliveries", "get"), aldaba.Delivery{})
	d.compare(t, ok(customers+"/webhooks/{webhookId}/health", "get"), aldaba.Health{})
	d.compare(t, request(invoicing, "post"), aldaba.InvoicingSubscription{})
	d.compare(t, ok(invoicing, "get"), aldaba.InvoicingWebhook{})

	notifications := 0
	for _, webhook := range d.root["webhooks"].(object) {
		post, isPost := d.resolve(webhook)["post"]
		if !isPost {
			continue
		}
		schema := d.body(t, d.at(t, d.resolve(post), "requestBody"))
		if d.members(schema)["Entity"] != nil {
			d.compare(t, schema, receiver.InvoicingNotification{})
		} else {
			d.compare(t, schema, receiver.Notification{})
		}
		notifications++
	}
	if notifications != 2 {
		t.Errorf("the document describes %d notifications", notifications)
	}
}

func TestResourcesMatchTheDocument(t *testing.T) {
	d := readDocument(t)
	var wanted, found []string
	for path := range d.at(t, d.root, "paths") {
		if strings.HasSuffix(path, "/webhooks/subscribe") {
			wanted = append(wanted, strings.TrimSuffix(path, "/webhooks/subscribe"))
		}
	}
	for _, resource := range aldaba.Resources() {
		found = append(found, resource.Path())
	}
	sort.Strings(wanted)
	sort.Strings(found)
	if len(wanted) != 19 || strings.Join(wanted, " ") != strings.Join(found, " ") {
		t.Fatalf("the kit has %v, the document %v", found, wanted)
	}
}

func TestEventNamesMatchTheService(t *testing.T) {
	f, ctx := newFixture(t), withPatience(t)
	for _, resource := range aldaba.Resources() {
		names, err := f.Webhooks(resource).Events(ctx)
		check(t, err)
		if strings.Join(names, " ") != strings.Join(resource.EventTypes(), " ") {
			t.Errorf("%s has %v", resource, names)
		}
	}
}
