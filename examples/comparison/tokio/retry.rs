// Connect, with up to ten attempts and a pause that doubles.
use std::{env, io, time::Duration};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

async fn connect_patiently(port: &str) -> io::Result<TcpStream> {
    let mut pause = Duration::from_millis(10);
    let mut attempt = 0;
    loop {
        let connect = TcpStream::connect(format!("127.0.0.1:{port}"));
        match timeout(Duration::from_secs(5), connect).await? {
            Err(e) if e.kind() == io::ErrorKind::ConnectionRefused && attempt < 9 => {}
            result => return result,
        }
        sleep(pause).await;
        pause *= 2;
        attempt += 1;
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    connect_patiently(&env::args().nth(1).expect("a port")).await?;
    println!("connected");
    Ok(())
}
