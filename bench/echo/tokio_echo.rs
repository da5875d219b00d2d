// tokio_echo - echo with tokio: a task a connection, on the runtime of one thread.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

const BACKLOG: u32 = 4096;

async fn serve(mut stream: TcpStream) {
    let mut bytes = [0u8; 4096];
    while let Ok(n) = stream.read(&mut bytes).await {
        if n == 0 || stream.write_all(&bytes[..n]).await.is_err() {
            break;
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
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
