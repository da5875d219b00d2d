// Three workers take jobs from a queue that holds at most four.
package main

import (
	"fmt"
	"sync"
	"time"
)

func work(jobs <-chan int, results chan<- int, workers *sync.WaitGroup) {
	defer workers.Done()
	for job := range jobs {
		time.Sleep(10 * time.Millisecond)
		results <- job * job
	}
}

func main() {
	jobs, results := make(chan int, 4), make(chan int)
	var workers sync.WaitGroup
	for i := 0; i < 3; i++ {
		workers.Add(1)
		go work(jobs, results, &workers)
	}
	go func() {
		for job := 1; job <= 20; job++ {
			jobs <- job
		}
		close(jobs)
		workers.Wait()
		close(results)
	}()
	sum := 0
	for result := range results {
		sum += result
	}
	fmt.Println(sum)
}
