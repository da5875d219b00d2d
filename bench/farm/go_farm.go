// go_farm THREADS JOBS - runs a goroutine for each job, and prints the same figures as coil_farm.c.
// GOMAXPROCS sets the number of threads; THREADS is not used.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const inFlight = 128
const units = 1000

func compute(x uint64) uint64 {
	for i := 0; i < units; i++ {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}

// Return the processor time of this process, in microseconds.
func cpu() float64 {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e3
}

func main() {
	jobs, _ := strconv.ParseUint(os.Args[2], 10, 64)
	var sum uint64
	var working sync.WaitGroup
	permits := make(chan struct{}, inFlight*runtime.GOMAXPROCS(0))
	start, began := cpu(), time.Now()
	for job := uint64(0); job < jobs; job++ {
		permits <- struct{}{}
		working.Add(1)
		go func(job uint64) {
			atomic.AddUint64(&sum, compute(job+1))
			<-permits
			working.Done()
		}(job)
	}
	working.Wait()
	wall := time.Since(began).Seconds()
	fmt.Println((cpu()-start)/float64(jobs), float64(jobs)/wall, sum)
}
