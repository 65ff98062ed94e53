//! Calls are written once, in batches; overload drops the oldest and counts all.

use async_trait::async_trait;
use store::{CallPage, CallQuery, StoreError};

use super::*;

const NOW: Ticks = Ticks(639_000_000_000_000_000);

/// Keeps what is appended; fails while told to.
#[derive(Default)]
struct Written {
    calls: Mutex<Vec<CallRecord>>,
    trimmed: Mutex<Vec<SubscriptionId>>,
    batches: Mutex<Vec<usize>>,
    fails: std::sync::atomic::AtomicBool,
}

#[async_trait]
impl Calls for Written {
    async fn append_calls(&self, calls: &[CallRecord], trimmed: &[SubscriptionId]) -> Result<()> {
        if self.fails.load(Ordering::Relaxed) {
            return Err(StoreError::Unavailable("down".into()));
        }
        self.batches.lock().push(calls.len());
        self.calls.lock().extend_from_slice(calls);
        self.trimmed.lock().extend_from_slice(trimmed);
        Ok(())
    }

    async fn list_calls(&self, _query: &CallQuery) -> Result<CallPage> {
        Ok(CallPage::default())
    }
}

fn meter(id: &str) -> Arc<Meter> {
    Arc::new(Meter::new(SubscriptionId::new(id), ["/a".to_owned(), "/b".to_owned()].into()))
}

fn call(number: u64) -> RecordedCall {
    RecordedCall {
        at: NOW + Duration::from_millis(number),
        method: Method::GET,
        route: 1,
        status: StatusCode::OK,
        latency: Duration::from_micros(number),
        request_id: None,
        caller: None,
        refusal: None,
    }
}

fn latencies(written: &Written) -> Vec<u64> {
    written.calls.lock().iter().map(|call| call.latency_micros).collect()
}

async fn subscription_total(recorder: &CallRecorder, id: &str) -> u64 {
    let [total] = totals(recorder, [Series::SubscriptionCalls(SubscriptionId::new(id))]).await;
    total
}

/// What was counted for each series.
async fn totals<const N: usize>(recorder: &CallRecorder, series: [Series; N]) -> [u64; N] {
    let store = store_in_memory();
    store::flush_figures(&store, &[recorder.figures()], NOW).await.unwrap();
    let until = NOW + Duration::from_secs(3600);
    let mut totals = [0; N];
    for (total, series) in totals.iter_mut().zip(&series) {
        let points =
            store::Figures::figures(&store, series, domain::figures::Resolution::Hour, NOW, until).await;
        *total = points.unwrap().iter().map(|point| point.counts.total()).sum();
    }
    totals
}

fn store_in_memory() -> store::memory::MemoryStore {
    struct Fixed;
    impl domain::Clock for Fixed {
        fn now(&self) -> Ticks {
            NOW
        }
    }
    impl domain::Random for Fixed {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(7);
        }
    }
    let vault = store::Vault::new(&store::MasterKey::from_bytes([7; 32])).unwrap();
    let ports = store::Ports { clock: Arc::new(Fixed), random: Arc::new(Fixed), vault: Arc::new(vault) };
    store::memory::MemoryStore::new(ports).unwrap()
}

#[tokio::test]
async fn calls_are_written_once_in_their_order() {
    let (recorder, written, [a, b]) = (CallRecorder::default(), Written::default(), ["a", "b"].map(meter));
    for number in [3, 1, 2] {
        recorder.record(Some(Area::Accounting), Some(&a), call(number * 2));
        recorder.record(Some(Area::Payroll), Some(&b), call(number * 2 + 1));
    }
    recorder.record(Some(Area::Payroll), None, call(9));
    assert_eq!(recorder.flush(&written, false).await, Ok(false));
    assert_eq!(recorder.flush(&written, false).await, Ok(false));
    assert_eq!(latencies(&written), [2, 3, 4, 5, 6, 7]);
    assert_eq!(written.calls.lock()[0].route, "/b");
    assert_eq!(recorder.unwritten.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn batch_that_could_not_be_written_is_written_later() {
    let (recorder, written, a) = (CallRecorder::default(), Written::default(), meter("a"));
    recorder.record(Some(Area::Accounting), Some(&a), call(1));
    written.fails.store(true, Ordering::Relaxed);
    assert!(recorder.flush(&written, false).await.is_err());
    recorder.record(Some(Area::Accounting), Some(&a), call(2));
    assert!(recorder.flush(&written, false).await.is_err());
    written.fails.store(false, Ordering::Relaxed);
    assert_eq!(recorder.flush(&written, false).await, Ok(true), "the second call still waits");
    assert_eq!(recorder.flush(&written, false).await, Ok(false));
    assert_eq!(latencies(&written), [1, 2]);
}

#[tokio::test]
async fn overload_drops_the_oldest_and_rests_but_counts_all() {
    let (recorder, written, a) = (CallRecorder::default(), Written::default(), meter("a"));
    let over = RING_CALLS_MAX as u64 + 10;
    for number in 0..over {
        recorder.record(Some(Area::Accounting), Some(&a), call(number));
    }
    assert_eq!(recorder.unwritten.load(Ordering::Relaxed), RING_CALLS_MAX);
    assert_eq!(recorder.flush(&written, false).await, Ok(false));
    assert_eq!(latencies(&written), (10..over).collect::<Vec<_>>());
    recorder.record(Some(Area::Accounting), Some(&a), call(1));
    for _ in 0..RESTS {
        assert_eq!(recorder.flush(&written, false).await, Ok(true));
    }
    assert_eq!(written.calls.lock().len(), RING_CALLS_MAX, "it rests");
    assert_eq!(recorder.flush(&written, false).await, Ok(false));
    assert_eq!(written.calls.lock().len(), RING_CALLS_MAX + 1);
    assert_eq!(subscription_total(&recorder, "a").await, over + 1, "figures count every call");
}

#[tokio::test]
async fn without_the_log_calls_are_counted_only() {
    let (recorder, written, a) = (CallRecorder::new(false), Written::default(), meter("a"));
    for number in 0..5 {
        recorder.record(Some(Area::Accounting), Some(&a), call(number));
    }
    assert_eq!(recorder.flush(&written, false).await, Ok(false));
    assert!(written.batches.lock().is_empty(), "nothing is written");
    assert_eq!(subscription_total(&recorder, "a").await, 5);
}

#[tokio::test]
async fn transactions_and_memory_are_bounded() {
    let (recorder, written) = (CallRecorder::default(), Written::default());
    let meters: Vec<Arc<Meter>> = (0..60).map(|number| meter(&format!("s{number}"))).collect();
    for meter in &meters {
        for number in 0..900 {
            recorder.record(Some(Area::Core), Some(meter), call(number));
        }
    }
    assert_eq!(recorder.unwritten.load(Ordering::Relaxed), CALLS_MAX);
    while recorder.flush(&written, true).await.unwrap() {}
    assert_eq!(written.calls.lock().len(), CALLS_MAX);
    assert!(written.batches.lock().iter().all(|calls| *calls <= BATCH_CALLS_MAX));
    assert_eq!(recorder.unwritten.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn old_calls_are_deleted_at_first_and_then_now_and_then() {
    let (recorder, written, a) = (CallRecorder::default(), Written::default(), meter("a"));
    for number in 0..2 * TRIMMED_AFTER as u64 {
        recorder.record(Some(Area::Accounting), Some(&a), call(number));
        if number % 100 == 0 {
            recorder.flush(&written, false).await.unwrap();
        }
    }
    assert_eq!(written.trimmed.lock().len(), 2);
}

#[tokio::test]
async fn calls_of_sandboxes_are_in_the_figures_of_their_subscription_alone() {
    let (recorder, written, a) = (CallRecorder::default(), Written::default(), meter("a"));
    recorder.record(Some(Area::Accounting), Some(&a), call(1));
    recorder.record(None, Some(&a), call(2));
    recorder.flush(&written, false).await.unwrap();
    let series = [Series::SubscriptionCalls(SubscriptionId::new("a")), Series::AreaCalls(Area::Accounting)];
    assert_eq!(totals(&recorder, series).await, [2, 1]);
}
