// Copy the bytes of each connection to a server and back, with half-closes.
use std::{env, io};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};

async fn serve(mut client: TcpStream, port: String) -> io::Result<()> {
    let mut server = TcpStream::connect(format!("127.0.0.1:{port}")).await?;
    copy_bidirectional(&mut client, &mut server).await?;
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let port = env::args().nth(1).expect("a port");
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?.port());
    loop {
        let (client, _) = listener.accept().await?;
        tokio::spawn(serve(client, port.clone()));
    }
}
