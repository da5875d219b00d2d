// Three workers take jobs from a queue that holds at most four.
use std::{sync::Arc, time::Duration};
use tokio::sync::{mpsc, Mutex};
use tokio::time::sleep;

async fn work(jobs: Arc<Mutex<mpsc::Receiver<i32>>>) -> i32 {
    let mut sum = 0;
    loop {
        let job = jobs.lock().await.recv().await;
        let Some(job) = job else { return sum };
        sleep(Duration::from_millis(10)).await;
        sum += job * job;
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let (sender, receiver) = mpsc::channel(4);
    let jobs = Arc::new(Mutex::new(receiver));
    let workers: Vec<_> = (0..3).map(|_| tokio::spawn(work(jobs.clone()))).collect();
    for job in 1..=20 {
        sender.send(job).await.expect("the workers are alive");
    }
    drop(sender);
    let mut sum = 0;
    for worker in workers {
        sum += worker.await.expect("no worker panics");
    }
    println!("{sum}");
}
