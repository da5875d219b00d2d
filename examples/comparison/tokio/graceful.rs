// After SIGTERM, stop accepting, and give handlers three seconds to end.
use std::{io, time::Duration};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::{signal, SignalKind};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

async fn answer(stream: TcpStream) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    if stream.read_line(&mut String::new()).await? > 0 {
        sleep(Duration::from_millis(500)).await;
        stream.write_all(b"done\n").await?;
    }
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let mut term = signal(SignalKind::terminate())?;
    let mut handlers = JoinSet::new();
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?.port());
    loop {
        tokio::select! {
            _ = term.recv() => break,
            accepted = listener.accept() => {
                handlers.spawn(answer(accepted?.0));
            }
            Some(_) = handlers.join_next() => {}
        }
    }
    drop(listener);
    let all = async { while handlers.join_next().await.is_some() {} };
    let _ = timeout(Duration::from_secs(3), all).await;
    handlers.shutdown().await;
    Ok(())
}
