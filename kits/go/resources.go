package aldaba

// Resource is a kind of record.
type Resource struct {
	path, domain, plural, singular string
	isOfTenant, isDeletable        bool
	noDeletedEvent                 bool
}

const (
	accounting = "/accounting/api/"
	core       = "/accounting-core/api/"
	imports    = "/accounting-import/api/"
	invoicing  = "/invoicing/api"
)

func disabled(path, plural, singular string) Resource {
	return Resource{path: accounting + path, domain: "ACC", plural: plural, singular: singular, noDeletedEvent: true}
}

func deleted(prefix, domain, path, plural, singular string) Resource {
	return Resource{path: prefix + path, domain: domain, plural: plural, singular: singular, isDeletable: true}
}

// The resources of the accounting family.
var (
	Accounts        = disabled("accounts", "Accounts", "Account")
	Charges         = deleted(accounting, "ACC", "charges", "Charges", "Charge")
	Payments        = deleted(accounting, "ACC", "payments", "Payments", "Payment")
	Customers       = disabled("customers", "Customers", "Customer")
	Suppliers       = disabled("suppliers", "Suppliers", "Supplier")
	InputInvoices   = deleted(accounting, "ACC", "inputInvoices", "InputInvoices", "InputInvoice")
	IssuedInvoices  = deleted(accounting, "ACC", "issuedInvoices", "IssuedInvoices", "IssuedInvoice")
	Journals        = deleted(accounting, "ACC", "journals", "Journals", "Journal")
	Companies       = ofTenant(deleted(accounting, "ACC", "companies", "Companies", "Company"))
	AccountingYears = deleted(accounting, "ACC", "accountingYears", "AccountingYears", "AccountingYear")

	Persons                       = deleted(core, "COR", "persons", "Persons", "Person")
	CorporateLegalEntities        = deleted(core, "COR", "corporateLegalEntities", "CorporateLegalEntities", "CorporateLegalEntity")
	IndividualLegalEntities       = deleted(core, "COR", "individualLegalEntities", "IndividualLegalEntities", "IndividualLegalEntity")
	Activities                    = deleted(core, "COR", "activities", "Activities", "Activity")
	Estimations                   = deleted(core, "COR", "activities/estimations", "Estimations", "Estimation")
	LegalEntityLicences           = deleted(core, "COR", "legalEntityLicences", "LegalEntityLicences", "LegalEntityLicence")
	Prorates                      = deleted(core, "COR", "activities/prorates", "Prorates", "Prorate")
	IncomeAllocationLegalEntities = deleted(core, "COR", "incomeAllocationLegalEntities", "IncomeAllocationLegalEntities", "IncomeAllocationLegalEntity")

	IntegrationFiles = deleted(imports, "IMP", "integrationFiles", "IntegrationFiles", "IntegrationFile")

	payrollCompanies = ofTenant(Resource{path: "/payroll/api/companies", isDeletable: false})
)

func ofTenant(resource Resource) Resource {
	resource.isOfTenant = true
	return resource
}

// Resources returns the 19 resources of the accounting family.
func Resources() []Resource {
	return []Resource{
		Accounts, Charges, Payments, Customers, Suppliers, InputInvoices, IssuedInvoices, Journals, Companies,
		AccountingYears, Persons, CorporateLegalEntities, IndividualLegalEntities, Activities, Estimations,
		LegalEntityLicences, Prorates, IncomeAllocationLegalEntities, IntegrationFiles,
	}
}

// Path is the path of the list, below the base URL.
func (r Resource) Path() string { return r.path }

// String is the path.
func (r Resource) String() string { return r.path }

// EventTypes returns the semantic names of all events of the resource.
func (r Resource) EventTypes() []string {
	last := "Deleted"
	if r.noDeletedEvent {
		last = "Disabled"
	}
	start := "Svc." + r.domain + "." + r.plural + "."
	return []string{
		start + r.singular + "Created", start + r.singular + "Updated", start + r.singular + last,
		start + "ErrorOccurred",
	}
}

func (r Resource) contextCompany(company string) string {
	if r.isOfTenant {
		return ""
	}
	return company
}
