//! `aldaba doctor`: examines the installation that the configuration describes, whether the service runs or not.

use operator::operations::doctor::{Examination, Finding, Verdict};
use operator::ports::Doctor as _;
use ui::Lang;

use crate::config::{self, Sources};
use crate::doctor::{Examiner, UnnamedProxies};
use crate::exit::{CommandResult, Failure};
use crate::output::{Output, fields};
use crate::serve;
use crate::wiring::BasePorts;

pub(crate) async fn run(sources: &Sources, output: Output) -> CommandResult {
    let mut config = config::load(sources).map_err(Failure::Config)?;
    let faults = serve::unfit(&config).iter().map(ToString::to_string).collect();
    // Only operators' links may be without a configured address.
    if config.operator.url.is_empty() {
        let (public, operator) = (config.server.listen, config.operator.listen);
        let (base_url, auth_url) = (config.server.base_url.clone(), config.server.auth_url.clone());
        config.fill_urls(public, operator);
        (config.server.base_url, config.server.auth_url) = (base_url, auth_url);
    }
    let examiner = Examiner::new(config, BasePorts::system(), UnnamedProxies::default()).with_faults(faults);
    let examination = examiner.examine().await;
    output.result(&examination.report(Lang::En), || text(&examination));
    if examination.verdict() == Verdict::Failure { Err(Failure::CheckFailed) } else { Ok(()) }
}

fn text(examination: &Examination) -> String {
    let word = |finding: &Finding| match finding.verdict() {
        Verdict::Ok => "ok",
        Verdict::Warning => "warning",
        Verdict::Failure => "FAILURE",
        Verdict::NotChecked => "not checked",
    };
    let lines = examination.findings.iter().flat_map(|finding| {
        let title = finding.check.title(Lang::En);
        let remedy = finding.remedy(Lang::En).filter(|_| finding.verdict() != Verdict::Ok);
        [(word(finding), format!("{title}: {}", finding.sentence(Lang::En)))]
            .into_iter()
            .chain(remedy.map(|remedy| ("", format!("→ {remedy}"))))
    });
    fields(&lines.collect::<Vec<_>>())
}
