// park.rs - the standard library's thread::park() and thread::scope(), for rust.c.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Thread};
use std::time::Duration;

struct Turn {
    mine: AtomicBool,
    thread: Thread,
}

// Create a turn for the calling task.
// turn_await() waits until another task calls turn_give().
#[no_mangle]
pub extern "C" fn turn_create() -> *mut c_void {
    let turn = Turn { mine: AtomicBool::new(false), thread: thread::current() };
    Box::into_raw(Box::new(turn)) as *mut c_void
}

#[no_mangle]
pub unsafe extern "C" fn turn_await(turn: *mut c_void) {
    let turn = &*(turn as *const Turn);
    while !turn.mine.swap(false, Ordering::SeqCst) {
        thread::park();
    }
}

#[no_mangle]
pub unsafe extern "C" fn turn_give(turn: *mut c_void) {
    let turn = &*(turn as *const Turn);
    turn.mine.store(true, Ordering::SeqCst);
    turn.thread.unpark();
}

#[no_mangle]
pub unsafe extern "C" fn turn_destroy(turn: *mut c_void) {
    drop(Box::from_raw(turn as *mut Turn));
}

// Wait until two threads have ended. Returns the sum of their results.
#[no_mangle]
pub extern "C" fn scope_sum(number: i32) -> i32 {
    thread::scope(|scope| {
        let one = scope.spawn(move || {
            thread::sleep(Duration::from_millis(5));
            number
        });
        let two = scope.spawn(move || number + 1);
        one.join().unwrap() + two.join().unwrap()
    })
}

// ---- for channel.c ------------------------------------------------------------------

use std::sync::mpsc;

struct Channel {
    sender: mpsc::Sender<i32>,
    receiver: mpsc::Receiver<i32>,
}

#[no_mangle]
pub extern "C" fn channel_create() -> *mut c_void {
    let (sender, receiver) = mpsc::channel();
    Box::into_raw(Box::new(Channel { sender, receiver })) as *mut c_void
}

#[no_mangle]
pub unsafe extern "C" fn channel_receive(channel: *mut c_void) -> i32 {
    (*(channel as *const Channel)).receiver.recv().unwrap_or(-1)
}

#[no_mangle]
pub unsafe extern "C" fn channel_send(channel: *mut c_void, value: i32) {
    let _ = (*(channel as *const Channel)).sender.send(value);
}
