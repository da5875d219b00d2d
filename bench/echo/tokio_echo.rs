// tokio_echo - echo with tokio: a task for each connection, on the single-threaded runtime.
// With `tokio_echo N`, the runtime has N threads.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::runtime::Builder;

const BACKLOG: u32 = 4096;

async fn serve(mut stream: TcpStream) {
    let mut bytes = [0u8; 4096];
    while let Ok(n) = stream.read(&mut bytes).await {
        if n == 0 || stream.write_all(&bytes[..n]).await.is_err() {
            break;
        }
    }
}

async fn listen() -> std::io::Result<()> {
    let socket = TcpSocket::new_v4()?;
    socket.bind("127.0.0.1:0".parse().unwrap())?;
    let listener = socket.listen(BACKLOG)?;
    println!("{}", listener.local_addr()?.port());
    loop {
        if let Ok((stream, _)) = listener.accept().await {
            stream.set_nodelay(true)?;
            tokio::spawn(serve(stream));
        }
    }
}

fn main() -> std::io::Result<()> {
    let runtime = match std::env::args().nth(1) {
        None => Builder::new_current_thread().enable_io().build()?,
        Some(threads) => Builder::new_multi_thread()
            .worker_threads(threads.parse().unwrap())
            .enable_io()
            .build()?,
    };
    // Listen in a spawned task, so that a worker thread accepts connections.
    runtime.block_on(async { tokio::spawn(listen()).await.unwrap() })
}
