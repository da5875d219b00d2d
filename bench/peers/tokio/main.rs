// tokio's rows of the benchmark, on its current_thread runtime.

use std::future::Future;
use std::pin::Pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot};
use tokio::time::{sleep, sleep_until, Sleep};

const TIMERS: usize = 1_000_000;

fn cpu_ns() -> f64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut now) };
    now.tv_sec as f64 * 1e9 + now.tv_nsec as f64
}

fn took(row: &str, start: f64, n: usize) {
    println!("{} {:.4} ns", row, (cpu_ns() - start) / n as f64);
}

fn memory() -> f64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap();
    text.lines()
        .filter(|line| line.starts_with("VmHWM:") || line.starts_with("VmPTE:"))
        .map(|line| line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() * 1024.0)
        .sum()
}

async fn yields(row: &str, tasks: usize) {
    let n = 3_000_000;
    let start = cpu_ns();
    let all: Vec<_> = (0..tasks)
        .map(|_| {
            tokio::spawn(async move {
                for _ in 0..n / tasks {
                    tokio::task::yield_now().await;
                }
            })
        })
        .collect();
    for task in all {
        task.await.unwrap();
    }
    took(row, start, n);
}

async fn spawn(row: &str) {
    let n = 2_000_000;
    let start = cpu_ns();
    for _ in 0..n {
        tokio::spawn(async {}).await.unwrap();
    }
    took(row, start, n);
}

async fn queue(row: &str, bound: usize) {
    let n = 3_000_000usize;
    let (put, mut get) = mpsc::channel::<u64>(bound);
    let start = cpu_ns();
    tokio::spawn(async move {
        for i in 0..n as u64 {
            put.send(i).await.unwrap();
        }
    });
    while get.recv().await.is_some() {}
    took(row, start, n);
}

// Arm the timers by polling them once.
async fn arm() -> Vec<Pin<Box<Sleep>>> {
    let mut random = 1u64;
    let now = tokio::time::Instant::from_std(Instant::now());
    let mut all = Vec::with_capacity(TIMERS);
    for _ in 0..TIMERS {
        random = random
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        let delay = Duration::from_nanos((random >> 33) % 1_000_000_000);
        all.push(Box::pin(sleep_until(now + delay)));
    }
    std::future::poll_fn(|cx| {
        for timer in all.iter_mut() {
            let _ = timer.as_mut().poll(cx);
        }
        Poll::Ready(())
    })
    .await;
    all
}

async fn timers(row: &str) {
    let start = cpu_ns();
    let all = tokio::task::unconstrained(arm()).await;
    match row {
        "timer_arm" => took(row, start, TIMERS),
        "timer_cancel" => {
            drop(all);
            took(row, start, TIMERS);
        }
        _ => {
            tokio::task::unconstrained(async {
                for timer in all {
                    timer.await;
                }
            })
            .await;
            took(row, start, TIMERS);
        }
    }
    std::process::exit(0);
}

async fn sleeper(row: &str) {
    let n = 1_000_000;
    let before = memory();
    let (asleep, all_asleep) = oneshot::channel();
    for _ in 0..n {
        tokio::spawn(sleep(Duration::from_secs(3600)));
    }
    tokio::spawn(async move { asleep.send(()).unwrap() });
    all_asleep.await.unwrap();
    println!("{} {:.4} B", row, (memory() - before) / n as f64);
    std::process::exit(0);
}

// Start a thread that runs `fn_` on a current_thread runtime of its own.
fn beside(fn_: impl Future<Output = ()> + Send + 'static) -> std::thread::JoinHandle<()> {
    std::thread::spawn(move || one_thread().block_on(fn_))
}

async fn channel(row: &str, bound: usize) {
    let n = if bound == 1 { 50_000u64 } else { 2_000_000 };
    let (put, mut get) = mpsc::channel::<u64>(bound);
    let start = cpu_ns();
    let other = beside(async move {
        for i in 0..n {
            put.send(i).await.unwrap();
        }
    });
    while get.recv().await.is_some() {}
    other.join().unwrap();
    took(row, start, n as usize);
}

async fn promise(row: &str) {
    let n = 20_000;
    let start = cpu_ns();
    let (hand, handle) = oneshot::channel();
    let (end, ended) = oneshot::channel::<()>();
    let other = beside(async move {
        hand.send(tokio::runtime::Handle::current()).unwrap();
        ended.await.unwrap();
    });
    let handle: tokio::runtime::Handle = handle.await.unwrap();
    for _ in 0..n {
        handle.spawn(async {}).await.unwrap();
    }
    end.send(()).unwrap();
    other.join().unwrap();
    took(row, start, n);
}

// Spawn tasks on the other thread, which is the counterpart of posting calls to it.
async fn post(row: &str) {
    let n = 1_000_000;
    let handle = tokio::runtime::Handle::current();
    let (end, ended) = oneshot::channel::<()>();
    let left = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(n));
    let end = std::sync::Arc::new(std::sync::Mutex::new(Some(end)));
    let start = cpu_ns();
    let other = std::thread::spawn(move || {
        for _ in 0..n {
            let (left, end) = (left.clone(), end.clone());
            handle.spawn(async move {
                if left.fetch_sub(1, std::sync::atomic::Ordering::Relaxed) == 1 {
                    end.lock().unwrap().take().unwrap().send(()).unwrap();
                }
            });
        }
    });
    ended.await.unwrap();
    other.join().unwrap();
    took(row, start, n);
}

async fn run(row: &str) {
    match row {
        "yield1" => yields(row, 1).await,
        "yield2" => yields(row, 2).await,
        "yield1000" => yields(row, 1000).await,
        "spawn" => spawn(row).await,
        "queue1" => queue(row, 1).await,
        "queue100" => queue(row, 100).await,
        "sleeper" => sleeper(row).await,
        "post" => post(row).await,
        "promise" => promise(row).await,
        "channel1" => channel(row, 1).await,
        "channel100" => channel(row, 100).await,
        _ => timers(row).await,
    }
}

fn one_thread() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap()
}

// Create and close runtimes that, like coil_run(), have descriptors and timers.
fn empty_mains(row: &str) {
    let n = 5_000;
    let start = cpu_ns();
    for _ in 0..n {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {});
    }
    println!("{} {:.4} us", row, (cpu_ns() - start) / n as f64 / 1e3);
}

fn main() {
    let row = std::env::args().nth(1).expect("usage: tokio ROW");
    if row == "run" {
        return empty_mains(&row);
    }
    let runtime = one_thread();
    // Run in a spawned task, because tokio polls the future of block_on() differently.
    runtime.block_on(async { tokio::spawn(async move { run(&row).await }).await.unwrap() });
}
