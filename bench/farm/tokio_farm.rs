// tokio_farm THREADS JOBS - runs a task for each job, and prints the same figures as coil_farm.c.
// The runtime is single-threaded if THREADS is 1; otherwise it has THREADS threads.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::Instant;
use tokio::runtime::Builder;
use tokio::sync::Semaphore;

const IN_FLIGHT: usize = 128;
const WORK: usize = 1000;

fn compute(mut x: u64) -> u64 {
    for _ in 0..WORK {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    x
}

// Return the processor time of this process, in microseconds.
fn cpu() -> f64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut t) };
    t.tv_sec as f64 * 1e6 + t.tv_nsec as f64 / 1e3
}

async fn farm(threads: usize, jobs: u64) -> u64 {
    let sum = Arc::new(AtomicU64::new(0));
    let most = IN_FLIGHT * threads;
    let permits = Arc::new(Semaphore::new(most));
    for job in 0..jobs {
        let permit = permits.clone().acquire_owned().await.unwrap();
        let sum = sum.clone();
        tokio::spawn(async move {
            sum.fetch_add(compute(job + 1), Ordering::Relaxed);
            drop(permit);
        });
    }
    let _all = permits.acquire_many(most as u32).await.unwrap();
    sum.load(Ordering::Relaxed)
}

fn main() {
    let numbers: Vec<u64> = std::env::args().skip(1).map(|word| word.parse().unwrap()).collect();
    let (threads, jobs) = (numbers[0] as usize, numbers[1]);
    let (start, began) = (cpu(), Instant::now());
    let runtime = match threads {
        1 => Builder::new_current_thread().build().unwrap(),
        _ => Builder::new_multi_thread().worker_threads(threads).build().unwrap(),
    };
    let sum = runtime.block_on(async move { tokio::spawn(farm(threads, jobs)).await.unwrap() });
    let wall = began.elapsed().as_secs_f64();
    println!("{:.4} {:.0} {}", (cpu() - start) / jobs as f64, jobs as f64 / wall, sum);
}
