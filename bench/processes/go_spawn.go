// go_spawn AT_ONCE COUNT MIB - like coil_spawn, with Go's os/exec.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

func main() {
	atOnce, _ := strconv.Atoi(os.Args[1])
	count, _ := strconv.Atoi(os.Args[2])
	mib, _ := strconv.Atoi(os.Args[3])
	memory := make([]byte, mib<<20)
	for i := 0; i < len(memory); i += 4096 {
		memory[i] = 1
	}
	left := int64(count)
	var all sync.WaitGroup
	began := time.Now()
	for i := 0; i < atOnce; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for atomic.AddInt64(&left, -1) >= 0 {
				if err := exec.Command("/bin/true").Run(); err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
			}
		}()
	}
	all.Wait()
	fmt.Printf("%.2f\n", float64(time.Since(began).Nanoseconds())/1e3/float64(count))
	if mib > 0 && memory[0] != 1 {
		os.Exit(1)
	}
}
