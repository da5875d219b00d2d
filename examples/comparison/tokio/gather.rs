// Fetch from all servers at once; the first failure cancels the others.
use std::{env, io};
use tokio::io::{copy, sink};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

async fn fetch(port: String) -> io::Result<u64> {
    let mut stream = TcpStream::connect(format!("127.0.0.1:{port}")).await?;
    copy(&mut stream, &mut sink()).await
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let mut fetches = JoinSet::new();
    for port in env::args().skip(1) {
        fetches.spawn(fetch(port));
    }
    let mut total = 0;
    while let Some(result) = fetches.join_next().await {
        total += result.expect("no task panics")?;
    }
    println!("{total}");
    Ok(())
}
