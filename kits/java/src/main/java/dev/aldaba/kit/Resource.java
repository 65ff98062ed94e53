package dev.aldaba.kit;

import java.util.List;

/** The resources of the accounting family. */
public enum Resource {
    ACCOUNTS("ACC", "accounts", "Account"),
    CHARGES("ACC", "charges", "Charge"),
    PAYMENTS("ACC", "payments", "Payment"),
    CUSTOMERS("ACC", "customers", "Customer"),
    SUPPLIERS("ACC", "suppliers", "Supplier"),
    INPUT_INVOICES("ACC", "inputInvoices", "InputInvoice"),
    ISSUED_INVOICES("ACC", "issuedInvoices", "IssuedInvoice"),
    JOURNALS("ACC", "journals", "Journal"),
    COMPANIES("ACC", "companies", "Company"),
    ACCOUNTING_YEARS("ACC", "accountingYears", "AccountingYear"),
    PERSONS("COR", "persons", "Person"),
    CORPORATE_LEGAL_ENTITIES("COR", "corporateLegalEntities", "CorporateLegalEntity"),
    INDIVIDUAL_LEGAL_ENTITIES("COR", "individualLegalEntities", "IndividualLegalEntity"),
    ACTIVITIES("COR", "activities", "Activity"),
    ESTIMATIONS("COR", "activities/estimations", "Estimation"),
    LEGAL_ENTITY_LICENCES("COR", "legalEntityLicences", "LegalEntityLicence"),
    PRORATES("COR", "activities/prorates", "Prorate"),
    INCOME_ALLOCATION_LEGAL_ENTITIES("COR", "incomeAllocationLegalEntities", "IncomeAllocationLegalEntity"),
    INTEGRATION_FILES("IMP", "integrationFiles", "IntegrationFile");

    private final String domain;
    private final String path;
    private final String singular;

    Resource(String domain, String path, String singular) {
        this.domain = domain;
        this.path = path;
        this.singular = singular;
    }

    /** The path of the list, below the base URL. */
    public String path() {
        String area = switch (domain) {
            case "COR" -> "accounting-core";
            case "IMP" -> "accounting-import";
            default -> "accounting";
        };
        return "/" + area + "/api/" + path;
    }

    /** The semantic names of all events of the resource. */
    public List<String> eventTypes() {
        String last = path.substring(path.lastIndexOf('/') + 1);
        String start = "Svc." + domain + "." + Character.toUpperCase(last.charAt(0)) + last.substring(1) + ".";
        String end = canBeDeleted() ? "Deleted" : "Disabled";
        return List.of(start + singular + "Created", start + singular + "Updated", start + singular + end, start + "ErrorOccurred");
    }

    /** Accounts, customers and suppliers are never deleted, only disabled. */
    boolean canBeDeleted() {
        return this != ACCOUNTS && this != CUSTOMERS && this != SUPPLIERS;
    }

    /** The company to send as the context; companies themselves belong to the tenant. */
    String contextCompany(String company) {
        return this == COMPANIES ? null : company;
    }
}
