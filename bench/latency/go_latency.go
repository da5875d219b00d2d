// go_latency STEP-US [preempted] - echo while other goroutines compute in steps of STEP-US us.
// After each step a goroutine writes a byte to stderr and calls runtime.Gosched().
// With `preempted`, goroutines never yield, so only the scheduler's preemption lets others run.
package main

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"strconv"
	"syscall"
)

const computing = 4

var sink [computing + 1]uint64

func compute(n uint64) uint64 {
	x := uint64(1)
	for ; n > 0; n-- {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}

// Return the processor time of this process, in seconds.
func seconds() float64 {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}

// Return how many units of computation take `step` seconds.
func unitsOf(step float64) uint64 {
	for n := uint64(2048); ; n *= 2 {
		began := seconds()
		sink[computing] = compute(n)
		if took := seconds() - began; took >= 0.05 {
			return uint64(float64(n) * step / took)
		}
	}
}

func computeInSteps(index int, units uint64, yields bool) {
	dot := []byte(".")
	for {
		sink[index] = compute(units)
		os.Stderr.Write(dot)
		if yields {
			runtime.Gosched()
		}
	}
}

func serve(conn net.Conn) {
	defer conn.Close()
	bytes := make([]byte, 4096)
	for {
		n, err := conn.Read(bytes)
		if err != nil {
			return
		}
		if _, err := conn.Write(bytes[:n]); err != nil {
			return
		}
	}
}

func main() {
	step, _ := strconv.ParseFloat(os.Args[1], 64)
	units := unitsOf(step / 1e6)
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	for i := 0; i < computing; i++ {
		go computeInSteps(i, units, len(os.Args) < 3)
	}
	for {
		if conn, err := listener.Accept(); err == nil {
			go serve(conn)
		}
	}
}
