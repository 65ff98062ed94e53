//! `aldaba store restore`: verifies a backup, loads it into an empty store and decides about the access that it contains.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use domain::{Clock as _, Ticks};
use serde_json::json;
use store::archive::encryption::{Decrypting, Identity, is_encrypted};
use store::{BackupSummary, RestoredAccess, archive};

use super::ended_access::Ends;
use crate::cli::{AccessChoice, RestoreArgs};
use crate::commands::{audit_context, open_store};
use crate::config::Sources;
use crate::exit::{CommandResult, Failure};
use crate::output::Output;
use crate::wiring::SystemClock;

const ACCESS_MISSING: &str = "choose what becomes of the access that users had given to applications when the backup was made:
  --access confirm   it is valid again, user by user, when they sign in; until then no token, refresh or webhook of theirs works
  --access keep      it is valid at once as in the backup, even what was withdrawn or revoked after the backup was made
Either way, --audit FILE repeats the ends of access that the audit of the lost store shows (aldaba audit --json > FILE).";

pub(super) async fn run(args: &RestoreArgs, sources: &Sources, output: Output) -> CommandResult {
    let access = match args.access {
        None => return Err(Failure::Usage(ACCESS_MISSING.into())),
        Some(AccessChoice::Keep) => RestoredAccess::Keep,
        Some(AccessChoice::Confirm) => RestoredAccess::Confirm,
    };
    let (file, identities) = (&args.file, identities(args)?);
    let verified = archive::verify(open_backup(file, &identities)?)?;
    let mut ends = args.audit.as_deref().map(|path| read_audit(path, &verified, output)).transpose()?;
    let (_, opened) = open_store(sources).await?;
    archive::read(&*opened.archive, &verified, open_backup(file, &identities)?, access, &audit_context())
        .await?;
    let repeated = match &mut ends {
        Some(ends) => ends.repeat(&*opened.store, SystemClock.now(), &audit_context()).await?,
        None => 0,
    };
    opened.archive.end_restore().await?;
    for missing in ends.iter().flat_map(|ends| &ends.not_repeated) {
        output.print_message(&format!("Not repeated: {missing}. Change it again."));
    }
    let not_repeated: Vec<_> = ends.iter().flat_map(|ends| &ends.not_repeated).collect();
    let report = json!({
        "file": file, "backup": verified, "access": access.as_str(), "repeatedEnds": repeated, "notRepeated": not_repeated,
    });
    output.result(&report, || {
        let ends = ends.map_or_else(String::new, |_| format!("repeated {repeated} ends of access; "));
        format!(
            "{ends}restored {} rows; the sequence numbers of every tenant continue 1,000,000 higher",
            verified.rows
        )
    });
    opened.store.close().await;
    Ok(())
}

/// The ends of access after the backup. Warns if the audit begins later.
fn read_audit(path: &Path, backup: &BackupSummary, output: Output) -> Result<Ends, Failure> {
    let taken_at = Ticks::parse_iso(&backup.taken_at)
        .ok_or_else(|| Failure::Failed(format!("the backup has an invalid time: {}", backup.taken_at)))?;
    let input = BufReader::new(File::open(path).map_err(cannot(path))?);
    let ends =
        Ends::read(input, taken_at).map_err(|why| Failure::Failed(format!("{}: {why}", path.display())))?;
    if ends.oldest.is_none_or(|oldest| oldest > taken_at) {
        output.print_message(&format!(
            "The audit begins after the backup ({}): ends of access in between may be missing.",
            backup.taken_at
        ));
    }
    Ok(ends)
}

fn identities(args: &RestoreArgs) -> Result<Vec<Identity>, Failure> {
    let Some(path) = &args.identity else { return Ok(Vec::new()) };
    let text = std::fs::read_to_string(path).map_err(cannot(path))?;
    Identity::parse_file(&text).map_err(|why| Failure::Failed(format!("{}: {why}", path.display())))
}

/// The backup as text, decrypted if it is encrypted.
fn open_backup(file: &Path, identities: &[Identity]) -> Result<Box<dyn BufRead + Send>, Failure> {
    let mut reader = BufReader::new(File::open(file).map_err(cannot(file))?);
    if !is_encrypted(reader.fill_buf().map_err(cannot(file))?) {
        return Ok(Box::new(reader));
    }
    if identities.is_empty() {
        let why = "is encrypted; name the file with its age secret key with --identity FILE";
        return Err(Failure::Usage(format!("{} {why}", file.display())));
    }
    let plain = Decrypting::new(reader, identities).map_err(cannot(file))?;
    Ok(Box::new(BufReader::new(plain)))
}

fn cannot(path: &Path) -> impl Fn(std::io::Error) -> Failure {
    move |error| Failure::Failed(format!("{}: {error}", path.display()))
}
