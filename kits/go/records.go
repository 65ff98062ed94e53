package aldaba

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"
	"time"
)

// The values of State.
const (
	Enabled  = "Enabled"
	Disabled = "Disabled"
)

// Company is a company of the accounting API.
type Company struct {
	VATName          string    `json:"vatName"`
	VATNumber        string    `json:"vatNumber"`
	State            string    `json:"state"`
	ChartOfAccountID int64     `json:"chartOfAccountId"`
	AccountLength    int64     `json:"accountLength"`
	CorrelationID    string    `json:"correlationId"`
	Version          time.Time `json:"version"`
	SequenceVersion  int64     `json:"sequenceVersion,string"`
}

// Customer is a customer of a company.
type Customer struct {
	TradeName                string    `json:"tradeName"`
	State                    string    `json:"state"`
	VATNumber                string    `json:"vatNumber"`
	VATName                  string    `json:"vatName"`
	AccountCode              string    `json:"accountCode"`
	CorrelationID            string    `json:"correlationId"`
	VATNumberCorrelationID   string    `json:"vatNumberCorrelationId"`
	AccountCodeCorrelationID string    `json:"accountCodeCorrelationId"`
	Version                  time.Time `json:"version"`
	SequenceVersion          int64     `json:"sequenceVersion,string"`
}

// Account is an account of a company.
type Account struct {
	CorrelationID   string    `json:"correlationId"`
	Code            string    `json:"code"`
	Description     string    `json:"description"`
	State           string    `json:"state"`
	Version         time.Time `json:"version"`
	SequenceVersion int64     `json:"sequenceVersion,string"`
}

// PayrollCompany is a company of the payroll API.
type PayrollCompany struct {
	CompanyCode      int64     `json:"companyCode"`
	CompanyName      string    `json:"companyName"`
	IdentifierNumber string    `json:"identifierNumber"`
	LastUpdate       time.Time `json:"lastUpdate"`
}

// Record is a record of any resource of the accounting family.
type Record struct {
	CorrelationID string `json:"correlationId"`
	// State is empty for resources without one: only accounts, customers, suppliers and companies have it.
	State           string    `json:"state,omitempty"`
	Version         time.Time `json:"version"`
	SequenceVersion int64     `json:"sequenceVersion,string"`
	// Document is the whole record.
	Document json.RawMessage `json:"-"`
}

// UnmarshalJSON reads the common members and keeps the document.
func (r *Record) UnmarshalJSON(document []byte) error {
	type common Record
	if err := json.Unmarshal(document, (*common)(r)); err != nil {
		return err
	}
	r.Document = append(json.RawMessage(nil), document...)
	return nil
}

// MarshalJSON writes the document.
func (r Record) MarshalJSON() ([]byte, error) { return r.Document, nil }

// As parses the document into a type of your own.
func (r Record) As(into interface{}) error { return json.Unmarshal(r.Document, into) }

// PayrollQuery filters and orders payroll companies.
type PayrollQuery struct {
	// Filter is an expression such as `lastUpdate gt 2026-11-01 and companyCode ge 100`; see FilterText.
	Filter string
	// OrderBy is a list of members such as `companyName desc, companyCode`.
	OrderBy string
}

// FilterText quotes a text for PayrollQuery.Filter.
func FilterText(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// Companies lists the companies of the user's tenant.
func (c *Client) Companies() *List[Company] { return newList[Company](c, Companies, "") }

// Company reads one company; the error is ErrNotFound if the tenant has no such company.
func (c *Client) Company(ctx context.Context, id string) (*Company, error) {
	return find[Company](ctx, c, Companies, "", id)
}

// Customers lists the customers of a company.
func (c *Client) Customers(company string) *List[Customer] {
	return newList[Customer](c, Customers, company)
}

// Customer reads one customer; the error is ErrNotFound if the customer or the company does not exist.
func (c *Client) Customer(ctx context.Context, company, id string) (*Customer, error) {
	return find[Customer](ctx, c, Customers, company, id)
}

// Accounts lists the accounts of a company.
func (c *Client) Accounts(company string) *List[Account] {
	return newList[Account](c, Accounts, company)
}

// Account reads one account; the error is ErrNotFound if the account or the company does not exist.
func (c *Client) Account(ctx context.Context, company, id string) (*Account, error) {
	return find[Account](ctx, c, Accounts, company, id)
}

// PayrollCompanies lists the payroll companies of the user's tenant.
func (c *Client) PayrollCompanies(query PayrollQuery) *List[PayrollCompany] {
	list := newList[PayrollCompany](c, payrollCompanies, "")
	list.query = url.Values{}
	if query.Filter != "" {
		list.query.Set("filter", query.Filter)
	}
	if query.OrderBy != "" {
		list.query.Set("OrderBy", query.OrderBy)
	}
	return list
}

// Records lists the records of any resource of the accounting family. The company is ignored for companies themselves.
func (c *Client) Records(resource Resource, company string) *List[Record] {
	return newList[Record](c, resource, company)
}

// Record reads one record of any resource of the accounting family; the error is ErrNotFound if it does not exist.
func (c *Client) Record(ctx context.Context, resource Resource, company, id string) (*Record, error) {
	return find[Record](ctx, c, resource, company, id)
}
