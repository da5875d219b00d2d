// main.go - the rows of the benchmark with Go, on one processor.
// Goroutines, channels and Go's timers are the counterparts of tasks, queues and timers.
package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

const timers = 1000000

// Return the processor time of all threads, including the garbage collector's.
func cpuNs() float64 {
	var now syscall.Timespec
	const processCPU = 2
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, processCPU,
		uintptr(unsafe.Pointer(&now)), 0)
	return float64(now.Sec)*1e9 + float64(now.Nsec)
}

func took(row string, start float64, n int) {
	fmt.Printf("%s %.4g ns\n", row, (cpuNs()-start)/float64(n))
}

func memory() float64 {
	text, _ := os.ReadFile("/proc/self/status")
	total := 0.0
	for _, line := range strings.Split(string(text), "\n") {
		fields := strings.Fields(line)
		if len(fields) > 1 && (fields[0] == "VmHWM:" || fields[0] == "VmPTE:") {
			kib, _ := strconv.ParseFloat(fields[1], 64)
			total += kib * 1024
		}
	}
	return total
}

func yield(row string, tasks int) {
	const n = 5000000
	var all sync.WaitGroup
	start := cpuNs()
	all.Add(tasks)
	for i := 0; i < tasks; i++ {
		go func() {
			for left := n / tasks; left > 0; left-- {
				runtime.Gosched()
			}
			all.Done()
		}()
	}
	all.Wait()
	took(row, start, n)
}

func spawn(row string, _ int) {
	const n = 2000000
	var child sync.WaitGroup
	start := cpuNs()
	for i := 0; i < n; i++ {
		child.Add(1)
		go child.Done()
		child.Wait()
	}
	took(row, start, n)
}

func queue(row string, bound int) {
	n := 10000000
	if bound == 1 {
		n = 3000000
	}
	items := make(chan int64, bound)
	start := cpuNs()
	go func() {
		for i := 0; i < n; i++ {
			items <- int64(i)
		}
		close(items)
	}()
	for range items {
	}
	took(row, start, n)
}

// The counterpart of awaiting a completed future is receiving from a closed channel.
func awaitDone(row string, _ int) {
	const n = 50000000
	done := make(chan bool)
	close(done)
	start := cpuNs()
	for i := 0; i < n; i++ {
		<-done
	}
	took(row, start, n)
}

func awaitChain(row string, length int) {
	const rounds = 1000
	spent := 0.0
	for round := 0; round < rounds; round++ {
		end := make(chan bool)
		last := end
		for i := 0; i < length; i++ {
			next, done := last, make(chan bool)
			go func() {
				<-next
				close(done)
			}()
			last = done
		}
		runtime.Gosched()
		start := cpuNs()
		close(end)
		<-last
		spent += cpuNs() - start
	}
	fmt.Printf("%s %.4g ns\n", row, spent/float64(rounds*length))
}

func gather(row string, width int) {
	const n = 2000000
	var all sync.WaitGroup
	start := cpuNs()
	for i := 0; i < n/width; i++ {
		all.Add(width)
		for j := 0; j < width; j++ {
			go all.Done()
		}
		all.Wait()
	}
	took(row, start, n)
}

func lock(row string, tasks int) {
	const n = 5000000
	var mutex sync.Mutex
	var all sync.WaitGroup
	start := cpuNs()
	all.Add(tasks)
	for i := 0; i < tasks; i++ {
		go func() {
			for left := n / tasks; left > 0; left-- {
				mutex.Lock()
				runtime.Gosched()
				mutex.Unlock()
			}
			all.Done()
		}()
	}
	all.Wait()
	took(row, start, n)
}

func handover(row string, consumers int) {
	const n = 5000000
	items := make(chan int64, 16)
	for i := 0; i < consumers; i++ {
		go func() {
			for range items {
			}
		}()
	}
	runtime.Gosched()
	start := cpuNs()
	for i := 0; i < n; i++ {
		items <- int64(i)
		runtime.Gosched()
	}
	took(row, start, n)
	close(items)
}

func timeout(row string, _ int) {
	const n = 2000000
	background := context.Background()
	start := cpuNs()
	for i := 0; i < n; i++ {
		_, cancel := context.WithTimeout(background, 10*time.Second)
		cancel()
	}
	took(row, start, n)
}

type delays uint64

func (d *delays) next() time.Duration {
	*d = *d*6364136223846793005 + 1442695040888963407
	return time.Duration((*d >> 33) % 1000000000)
}

func arm(fired func()) []*time.Timer {
	random := delays(1)
	all := make([]*time.Timer, timers)
	for i := range all {
		all[i] = time.AfterFunc(random.next(), fired)
	}
	return all
}

func timerArm(row string, _ int) {
	start := cpuNs()
	arm(func() {})
	took(row, start, timers)
}

func timerCancel(row string, _ int) {
	start := cpuNs()
	for _, timer := range arm(func() {}) {
		timer.Stop()
	}
	took(row, start, timers)
}

func timerFire(row string, _ int) {
	var left int64 = timers
	done := make(chan bool)
	start := cpuNs()
	arm(func() {
		if atomic.AddInt64(&left, -1) == 0 {
			done <- true
		}
	})
	<-done
	took(row, start, timers)
}

func sleeper(row string, _ int) {
	const n = 1000000
	before := memory()
	for i := 0; i < n; i++ {
		go time.Sleep(time.Hour)
	}
	time.Sleep(10 * time.Millisecond)
	fmt.Printf("%s %.4g B\n", row, (memory()-before)/n)
}

// Pass items between two threads: each end of the channel is locked to its own thread.
func channel(row string, bound int) {
	n := 2000000
	if bound == 1 {
		n = 50000
	}
	items := make(chan int64, bound)
	runtime.GOMAXPROCS(2)
	runtime.LockOSThread()
	start := cpuNs()
	go func() {
		runtime.LockOSThread()
		for i := 0; i < n; i++ {
			items <- int64(i)
		}
		close(items)
	}()
	for range items {
	}
	took(row, start, n)
}

// Request results from another thread, one after another, and receive them.
func promise(row string, _ int) {
	const n = 20000
	asked := make(chan chan int)
	runtime.GOMAXPROCS(2)
	runtime.LockOSThread()
	start := cpuNs()
	go func() {
		runtime.LockOSThread()
		for answer := range asked {
			answer <- 0
		}
	}()
	for i := 0; i < n; i++ {
		answer := make(chan int, 1)
		asked <- answer
		<-answer
	}
	took(row, start, n)
	close(asked)
}

func main() {
	rows := map[string]struct {
		run   func(string, int)
		shape int
	}{
		"yield1": {yield, 1}, "yield2": {yield, 2}, "yield1000": {yield, 1000},
		"spawn": {spawn, 0}, "queue1": {queue, 1}, "queue100": {queue, 100},
		"await_done": {awaitDone, 0}, "await_chain": {awaitChain, 1000},
		"gather100": {gather, 100}, "lock": {lock, 2}, "handover": {handover, 100},
		"timeout":   {timeout, 0},
		"timer_arm": {timerArm, 0}, "timer_cancel": {timerCancel, 0},
		"timer_fire": {timerFire, 0}, "sleeper": {sleeper, 0},
		"promise": {promise, 0}, "channel1": {channel, 1}, "channel100": {channel, 100},
	}
	runtime.GOMAXPROCS(1)
	row := rows[os.Args[1]]
	row.run(os.Args[1], row.shape)
}
