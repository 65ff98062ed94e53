//! The data of a tenant: its companies and what belongs to the tenant itself; or what one company has.

use domain::{Area, Resource, TenantId, Ticks};
use maud::{Markup, html};
use operator::admin::{CollectionName, ListedRecordJson, RecordPageJson, ResourceCountJson};
use pages::{Csv, View};
use serde::Serialize;
use ui::app::{Column, Table, empty_state, number, table};
use ui::{DisplayName, Field, InputType, Lang, field, hidden_field, safe_href, timestamp};

use super::records::{csv_row, pager};
use super::{record_state, title_of};
use crate::context::Context;
use crate::data::paths;
use crate::data::text::DataText;
use crate::shell::Section;
use crate::text::CommonText;

#[derive(Debug, Serialize)]
pub(crate) struct DataPage {
    pub(crate) tenant: Owner,
    /// The company whose data is shown; none for the tenant's own.
    pub(crate) company: Option<Owner>,
    pub(crate) resources: Vec<ResourceCountJson>,
    /// None on the page of one company.
    pub(crate) companies: Option<RecordPageJson>,
    pub(crate) offset: u64,
}

/// Whose data it is.
#[derive(Debug, Serialize)]
pub(crate) struct Owner {
    pub(crate) id: String,
    pub(crate) name: String,
}

impl View<Context> for DataPage {
    fn section(&self) -> Section {
        Section::Tenants
    }

    fn title(&self, lang: Lang) -> &'static str {
        DataText::of(lang).title
    }

    fn content(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (text, common) = (DataText::of(lang), CommonText::of(lang));
        let tenant = &self.tenant;
        let tenant_page = context.console_path(&format!("tenants/{}", tenant.id));
        html! {
            p.crumbs {
                a href=(safe_href(&context.console_path("tenants"))) { (common.tenants) } " › "
                a href=(safe_href(&tenant_page)) { (DisplayName(&tenant.name)) }
                @if self.company.is_some() {
                    " › " a href=(safe_href(&paths::data(context, &tenant.id, None))) { (text.title) }
                }
            }
            @match &self.company {
                Some(company) => (self.of_company(context, company)),
                None => {
                    h1 { (text.title) }
                    p.lead { (text.lead) }
                    (self.companies(context))
                    h2.after { (text.of_tenant) }
                    p.muted { (text.of_tenant_text) }
                    (self.resources(context, text.of_tenant))
                }
            }
        }
    }

    /// The companies; of one company, what it has.
    fn csv(&self, _context: &Context) -> Option<Csv> {
        if let Some(page) = &self.companies {
            return Some(Csv {
                name: "companies",
                columns: vec!["id", "name", "state", "version", "sequence_version", "data"],
                rows: page.records.iter().map(csv_row).collect(),
            });
        }
        let row = |one: &ResourceCountJson| {
            vec![one.area.to_owned(), one.resource.to_owned(), one.records.to_string()]
        };
        Some(Csv {
            name: "resources",
            columns: vec!["area", "resource", "records"],
            rows: self.resources.iter().map(row).collect(),
        })
    }
}

impl DataPage {
    fn of_company(&self, context: &Context, company: &Owner) -> Markup {
        let text = DataText::of(context.lang());
        let name = self.companies_name().record(&company.id);
        html! {
            h1 { @if company.name.is_empty() { (DisplayName(&company.id)) } @else { (DisplayName(&company.name)) } }
            p.lead {
                code { (DisplayName(&company.id)) } " · "
                a href=(safe_href(&paths::record(context, &name, ""))) { (text.company_record) }
            }
            (self.resources(context, text.of_company))
        }
    }

    fn companies_name(&self) -> CollectionName {
        let tenant = TenantId::new(self.tenant.id.as_str());
        CollectionName { tenant, resource: Resource::companies(), company: None }
    }

    fn companies(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (text, common) = (DataText::of(lang), CommonText::of(lang));
        let Some(page) = &self.companies else { return html! {} };
        if page.total == 0 {
            return html! { h2.after { (text.companies) } (empty_state(text.no_companies, text.no_companies_text, None)) };
        }
        let columns = [
            Column::main(text.company),
            Column::text(text.vat_number),
            Column::text(common.state),
            Column::text(text.changed),
            Column::text(""),
        ];
        let of = self.companies_name();
        let rows = page.records.iter().map(|one| (one.id.clone(), self.company_cells(context, &of, one)));
        html! {
            h2.after { (text.companies) }
            p.muted { (number(lang, page.total)) " " (text.in_all) }
            (find_form(context, text.find_company, &paths::records(context, &of), &[("area", "accounting")]))
            (table(lang, &Table {
                caption: text.companies,
                columns: &columns,
                rows: rows.collect(),
                ..pager(context, self.offset, page.next)
            }))
        }
    }

    fn company_cells(&self, context: &Context, of: &CollectionName, one: &ListedRecordJson) -> Vec<Markup> {
        let lang = context.lang();
        let text = DataText::of(lang);
        let name = title_of(&one.data).unwrap_or_else(|| one.id.clone());
        let body: serde_json::Value = serde_json::from_str(one.data.get()).unwrap_or_default();
        let record = paths::record(context, &of.record(&one.id), "");
        vec![
            html! {
                a href=(safe_href(&paths::data(context, &self.tenant.id, Some(&one.id)))) { (DisplayName(&name)) }
                span.sub { code { (DisplayName(&one.id)) } }
            },
            html! { (DisplayName(body["vatNumber"].as_str().unwrap_or_default())) },
            html! { @if let Some(state) = &one.state { (record_state(lang, state)) } },
            html! { @if let Some(at) = one.version.as_deref().and_then(Ticks::parse_iso) { (timestamp(lang, at)) } },
            html! { a href=(safe_href(&record)) { (text.record) } },
        ]
    }

    /// What there is of each resource, area by area. The companies of the tenant have a table of their own.
    fn resources(&self, context: &Context, caption: &'static str) -> Markup {
        let lang = context.lang();
        let text = DataText::of(lang);
        let columns = [Column::main(text.resource), Column::text(text.area), Column::number(text.records)];
        let company = self.company.as_ref().map(|company| company.id.clone());
        let row = |one: &ResourceCountJson| {
            let resource = Area::parse(one.area).and_then(|area| Resource::find(area, one.resource))?;
            if resource == Resource::companies() {
                return None;
            }
            let tenant = TenantId::new(self.tenant.id.as_str());
            let of = CollectionName { tenant, resource, company: company.clone() };
            let cells = vec![
                html! { a href=(safe_href(&paths::records(context, &of))) { (one.resource) } },
                html! { (DataText::area_name(lang, one.area)) },
                html! { (number(lang, one.records)) },
            ];
            Some((format!("{}-{}", one.area, one.resource), cells))
        };
        let csv = self.company.is_some().then(|| context.here(&[], [("format", "csv")]));
        let rows = self.resources.iter().filter_map(row).collect();
        table(lang, &Table { caption, columns: &columns, rows, csv, ..Table::default() })
    }
}

/// A form that finds a record by its id.
pub(super) fn find_form(
    context: &Context,
    label: &str,
    action: &str,
    hidden: &[(&'static str, &str)],
) -> Markup {
    let text = DataText::of(context.lang());
    let path = action.split('?').next().unwrap_or_default();
    html! {
        form.filters method="get" role="search" action=(safe_href(path)) {
            @for (name, value) in hidden { (hidden_field(name, value)) }
            div.field.wide {
                (field(&Field { name: "record", label, input_type: InputType::Search, value: context.query.get("record"), ..Field::default() }))
            }
            button type="submit" class="button secondary" { (text.find) }
        }
    }
}
