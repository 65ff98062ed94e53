// Package live tests the kit against a running `aldaba dev`.
package live

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	aldaba "aldaba.dev/kit"
	"aldaba.dev/kit/signin"
)

const patience = 30 * time.Second

// dev is the ready line of `aldaba dev --json`.
type dev struct {
	BaseURL       string `json:"base_url"`
	AuthURL       string `json:"auth_url"`
	OperatorURL   string `json:"operator_url"`
	OperatorToken string `json:"operator_token"`
	Subscription  struct {
		PrimaryKey aldaba.Secret `json:"primary_key"`
	} `json:"subscription"`
	Client struct {
		ID          string        `json:"client_id"`
		Secret      aldaba.Secret `json:"client_secret"`
		RedirectURI string        `json:"redirect_uri"`
	} `json:"client"`
	Users []user `json:"users"`
}

type user struct {
	Email    string   `json:"email"`
	Password string   `json:"password"`
	Tenants  []string `json:"tenants"`
}

func readDev(t *testing.T) *dev {
	t.Helper()
	path := os.Getenv("ALDABA_DEV")
	if path == "" {
		t.Fatal("set ALDABA_DEV to a file with the output of `aldaba dev --json`")
	}
	text, err := os.ReadFile(path)
	check(t, err)
	var ready dev
	check(t, json.Unmarshal(text, &ready))
	return &ready
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func withPatience(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

func (d *dev) provider(t *testing.T) *signin.Provider {
	t.Helper()
	provider, err := signin.New(signin.Config{
		AuthURL: d.AuthURL, ClientID: d.Client.ID, ClientSecret: d.Client.Secret, RedirectURI: d.Client.RedirectURI,
	})
	check(t, err)
	return provider
}

// person is a user with two tenants, and the one to choose.
func (d *dev) person(t *testing.T) (user, string) {
	t.Helper()
	for _, user := range d.Users {
		if len(user.Tenants) == 2 {
			return user, user.Tenants[1]
		}
	}
	t.Fatal("no user has two tenants")
	return user{}, ""
}

var (
	postForm = regexp.MustCompile(`(?is)<form\b[^>]*method="post"[^>]*>.*?</form>`)
	action   = regexp.MustCompile(`(?is)<form\b[^>]*action="([^"]*)"`)
	input    = regexp.MustCompile(`(?is)<input\b[^>]*>`)
)

func attribute(tag, name string) (string, bool) {
	found := regexp.MustCompile(`(?is)\s` + name + `="([^"]*)"`).FindStringSubmatch(tag)
	if found == nil {
		return "", false
	}
	return html.UnescapeString(found[1]), true
}

// browse follows redirects and submits forms like a browser, and returns the callback.
func browse(t *testing.T, address string, person user, tenant, callback string) string {
	t.Helper()
	jar, err := cookiejar.New(nil)
	check(t, err)
	browser := &http.Client{Jar: jar, Timeout: patience, CheckRedirect: func(request *http.Request, _ []*http.Request) error {
		if strings.HasPrefix(request.URL.String(), callback) {
			return http.ErrUseLastResponse
		}
		return nil
	}}
	response, err := browser.Get(address)
	for step := 0; step < 8; step++ {
		check(t, err)
		body, err2 := io.ReadAll(response.Body)
		check(t, err2)
		_ = response.Body.Close()
		if location := response.Header.Get("Location"); location != "" {
			return location
		}
		form := postForm.FindString(string(body))
		if response.StatusCode != http.StatusOK || form == "" {
			t.Fatalf("%s: %d %s", response.Request.URL, response.StatusCode, body)
		}
		fields := url.Values{}
		for _, tag := range input.FindAllString(form, -1) {
			name, _ := attribute(tag, "name")
			kind, _ := attribute(tag, "type")
			if value, _ := attribute(tag, "value"); name != "" && kind != "radio" && kind != "checkbox" {
				fields.Set(name, value)
			}
			if name == "tenant" {
				fields.Set("tenant", tenant)
			}
		}
		if fields.Has("password") {
			fields.Set("username", person.Email)
			fields.Set("password", person.Password)
		}
		target, err3 := response.Request.URL.Parse(html.UnescapeString(action.FindStringSubmatch(form)[1]))
		check(t, err3)
		response, err = browser.PostForm(target.String(), fields)
	}
	t.Fatal("the sign-in does not end")
	return ""
}

// signIn signs the person in through the pages.
func (d *dev) signIn(t *testing.T) (*signin.Provider, *signin.Completed, string) {
	t.Helper()
	provider := d.provider(t)
	person, tenant := d.person(t)
	scopes := append(signin.AccountingScopes(), signin.PayrollScopes()...)
	address, pending := provider.Start(signin.Request{Scopes: scopes})
	completed, err := provider.Finish(withPatience(t), pending, browse(t, address, person, tenant, d.Client.RedirectURI))
	check(t, err)
	return provider, completed, tenant
}

// fixture is a signed-in client, and a company of its own.
type fixture struct {
	*aldaba.Client
	dev     *dev
	tenant  string
	company string
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	ready := readDev(t)
	provider, completed, tenant := ready.signIn(t)
	session := signin.NewSession(provider, signin.NewMemoryStore(completed.Tokens))
	client, err := aldaba.New(ready.BaseURL, ready.Subscription.PrimaryKey, session)
	check(t, err)
	made := &fixture{Client: client, dev: ready, tenant: tenant, company: unique("empresa ñ")}
	made.ingest(t, object{
		"area": "accounting", "resource": "companies", "action": "upsert", "correlationId": made.company,
		"data": object{"vatName": "Panadería Ñandú", "vatNumber": "", "chartOfAccountId": 7, "accountLength": 9},
	})
	return made
}

type object = map[string]interface{}

func unique(name string) string {
	bytes := make([]byte, 6)
	_, _ = rand.Read(bytes)
	return name + " " + hex.EncodeToString(bytes)
}

// ingest sends changes as the operator's products do.
func (f *fixture) ingest(t *testing.T, changes ...object) {
	t.Helper()
	var lines bytes.Buffer
	for _, change := range changes {
		check(t, json.NewEncoder(&lines).Encode(change))
	}
	address := f.dev.OperatorURL + "/operator/v1/tenants/" + f.tenant + "/changes"
	request, err := http.NewRequestWithContext(withPatience(t), http.MethodPost, address, &lines)
	check(t, err)
	request.Header.Set("Authorization", "Bearer "+f.dev.OperatorToken)
	request.Header.Set("Content-Type", "application/x-ndjson")
	response, err := http.DefaultClient.Do(request)
	check(t, err)
	defer response.Body.Close()
	var told struct{ Accepted, Rejected int }
	body, err := io.ReadAll(response.Body)
	check(t, err)
	check(t, json.Unmarshal(body, &told))
	if told.Accepted != len(changes) || told.Rejected != 0 {
		t.Fatalf("%d %s", response.StatusCode, body)
	}
}

func (f *fixture) customer(id, name string) object {
	return object{
		"area": "accounting", "resource": "customers", "company": f.company, "action": "upsert", "correlationId": id, "user": "maría",
		"data": object{"tradeName": name, "accountCode": "430000001", "accountCodeCorrelationId": "account"},
	}
}
