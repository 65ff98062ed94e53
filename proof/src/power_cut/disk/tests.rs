//! What survives, and what does not.

use super::*;

const ALL: [Survival; 4] = [Survival::Nothing, Survival::Sectors(50), Survival::Prefix, Survival::Everything];

fn create(path: &str) -> Record {
    Record::Create(path.into())
}

fn write(path: &str, at: usize, data: impl AsRef<[u8]>) -> Record {
    Record::Write { path: path.into(), at, data: data.as_ref().to_vec() }
}

fn sync(path: &str, before: usize) -> Record {
    Record::Sync { path: path.into(), before }
}

/// The place of a record is its number.
fn placed(records: &[Record]) -> Vec<(usize, Record)> {
    records.iter().cloned().enumerate().collect()
}

fn disk(records: &[Record]) -> Disk {
    let mut disk = Disk::default();
    disk.apply(&placed(records)).unwrap();
    disk
}

fn survivors(records: &[Record], survival: Survival, seed: u64) -> BTreeMap<String, Option<Vec<u8>>> {
    disk(records).survivors(survival, &mut Random::new(seed))
}

#[test]
fn synced_contents_under_a_synced_name_survive_always() {
    let records = [create("a"), write("a", 0, "data"), sync("a", 2), sync(".", 2)];
    for (survival, seed) in ALL.into_iter().flat_map(|survival| (0..50).map(move |seed| (survival, seed))) {
        assert_eq!(survivors(&records, survival, seed)["a"].as_deref(), Some(b"data".as_slice()));
    }
}

#[test]
fn without_a_sync_nothing_has_to_survive() {
    let records = [create("a"), write("a", 0, "data"), sync(".", 2)];
    assert_eq!(survivors(&records, Survival::Nothing, 1)["a"].as_deref(), Some(b"".as_slice()));
    assert_eq!(survivors(&records, Survival::Everything, 1)["a"].as_deref(), Some(b"data".as_slice()));
}

#[test]
fn name_survives_only_when_its_folder_is_synced() {
    let records = [create("a"), write("a", 0, "data"), sync("a", 2)];
    assert!(survivors(&records, Survival::Nothing, 1).is_empty());
    let both: BTreeSet<usize> =
        (0..20).map(|seed| survivors(&records, Survival::Prefix, seed).len()).collect();
    assert_eq!(both, [0, 1].into());
}

#[test]
fn what_was_written_during_a_sync_is_not_synced_by_it() {
    let records = [create("a"), sync(".", 1), write("a", 0, "one"), write("a", 3, "two"), sync("a", 3)];
    assert_eq!(survivors(&records, Survival::Nothing, 1)["a"].as_deref(), Some(b"one".as_slice()));
}

#[test]
fn removed_and_renamed_names_come_back_until_the_folder_is_synced() {
    let mut records = vec![create("a"), create("b"), sync(".", 2), Record::Unlink("a".into())];
    records.push(Record::Rename { from: "b".into(), to: "c".into() });
    let names = |records: &[Record]| -> Vec<String> {
        survivors(records, Survival::Nothing, 1).into_keys().collect()
    };
    assert_eq!(names(&records), ["a", "b"]);
    records.push(sync(".", 5));
    assert_eq!(names(&records), ["c"]);
}

#[test]
fn sectors_are_torn_and_reordered_but_never_mixed() {
    let (old, new) = (vec![b'o'; 4 * SECTOR_BYTES], vec![b'n'; 4 * SECTOR_BYTES]);
    let records = [create("a"), write("a", 0, old), sync("a", 2), sync(".", 2), write("a", 0, new)];
    let mut seen = BTreeSet::new();
    for seed in 0..200 {
        let contents = survivors(&records, Survival::Sectors(50), seed).remove("a").flatten().unwrap();
        let sectors: String = contents
            .chunks(SECTOR_BYTES)
            .map(|sector| {
                assert!(sector.iter().all(|byte| byte == &sector[0]), "a sector is old or new");
                char::from(sector[0])
            })
            .collect();
        seen.insert(sectors);
    }
    assert_eq!(seen.len(), 16, "every combination: {seen:?}");
}

#[test]
fn truncation_survives_or_not() {
    let records = [
        create("a"),
        write("a", 0, [b'x'; 2048]),
        sync("a", 2),
        sync(".", 2),
        Record::Truncate { path: "a".into(), size: 100 },
    ];
    let sizes: BTreeSet<usize> = (0..50)
        .map(|seed| survivors(&records, Survival::Sectors(50), seed)["a"].as_ref().unwrap().len())
        .collect();
    assert_eq!(sizes, [100, 2048].into());
}

#[test]
fn failed_operation_changed_nothing_and_a_failed_write_is_refused() {
    let failed = || Record::Failed("a".into());
    assert!(disk(&[create("a"), failed()]).seen.is_empty());
    let mut disk = Disk::default();
    assert!(disk.apply(&placed(&[create("a"), write("a", 0, "x"), failed()])).is_err());
}

#[test]
fn change_that_was_not_recorded_is_found() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a"), "before").unwrap();
    let mut disk = Disk::of(folder.path()).unwrap();
    disk.apply(&placed(&[write("a", 0, "after!"), sync("a", 1)])).unwrap();
    let last = sync("b", 0);
    assert!(disk.expect_whole(folder.path(), Some(&last)).is_err(), "the write is not in the file");
    std::fs::write(folder.path().join("a"), "after!").unwrap();
    disk.expect_whole(folder.path(), Some(&last)).unwrap();
    std::fs::write(folder.path().join("c"), "").unwrap();
    assert!(disk.expect_whole(folder.path(), Some(&last)).is_err(), "nobody recorded the new file");
}

#[test]
fn memory_that_is_mapped_for_writing_is_refused_except_for_shared_memory() {
    let mapped = |path: &str| Disk::default().apply(&placed(&[Record::Mapped(path.into())])).is_ok();
    assert!(!mapped("aldaba.db"));
    assert!(mapped("aldaba.db-shm"));
}
