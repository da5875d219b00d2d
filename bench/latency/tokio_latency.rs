// tokio_latency STEP-US - echo while other tasks of the single-threaded runtime compute.
// These tasks compute in steps of STEP-US us. After each step they write a byte to stderr and yield.

use std::io::Write;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;

const COMPUTING: usize = 4;

fn compute(n: u64) -> u64 {
    let mut x = unsafe { std::ptr::read_volatile(&1u64) };
    for _ in 0..n {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    let mut result = 0;
    unsafe { std::ptr::write_volatile(&mut result, x) };
    result
}

// Return how many units of computation take `step` seconds.
fn units_of(step: f64) -> u64 {
    let mut n = 2048;
    loop {
        let began = Instant::now();
        compute(n);
        let took = began.elapsed();
        if took >= Duration::from_millis(50) {
            return (n as f64 * step / took.as_secs_f64()) as u64;
        }
        n *= 2;
    }
}

async fn compute_in_steps(units: u64) {
    loop {
        compute(units);
        let _ = std::io::stderr().write_all(b".");
        tokio::task::yield_now().await;
    }
}

async fn serve(mut stream: TcpStream) {
    let mut bytes = [0u8; 4096];
    while let Ok(n) = stream.read(&mut bytes).await {
        if n == 0 || stream.write_all(&bytes[..n]).await.is_err() {
            break;
        }
    }
}

async fn listen(units: u64) -> std::io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?.port());
    for _ in 0..COMPUTING {
        tokio::spawn(compute_in_steps(units));
    }
    loop {
        if let Ok((stream, _)) = listener.accept().await {
            stream.set_nodelay(true)?;
            tokio::spawn(serve(stream));
        }
    }
}

fn main() -> std::io::Result<()> {
    let step: f64 = std::env::args().nth(1).unwrap().parse().unwrap();
    let units = units_of(step / 1e6);
    let runtime = Builder::new_current_thread().enable_io().build()?;
    runtime.block_on(async { tokio::spawn(listen(units)).await.unwrap() })
}
