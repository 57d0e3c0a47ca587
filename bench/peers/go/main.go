// Three filters for Go. It keeps the protocol that contender.hpp describes, with the same keys.
package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"time"

	"github.com/bits-and-blooms/bloom"
	"github.com/greatroar/blobloom"
	cuckoo "github.com/seiflotfy/cuckoofilter"
)

// The build sets them (-ldflags -X): no library tells its version.
var (
	bloomVersion    = "unknown"
	blobloomVersion = "unknown"
	cuckooVersion   = "unknown"
)

const (
	fpr     = 0.01
	queries = 4000000
	small   = 10000000
	absent  = uint64(1) << 50
)

// mix is splitmix64's output function.
func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb
	return z ^ (z >> 31)
}

func makeKeys(first, count uint64) []uint64 {
	keys := make([]uint64, count)
	for i := range keys {
		keys[i] = mix(first + uint64(i))
	}
	return keys
}

type workload struct {
	keys, absent, present, mixed []uint64
}

func newWorkload(count uint64) *workload {
	work := &workload{
		keys:    makeKeys(0, count),
		absent:  makeKeys(absent, queries),
		present: make([]uint64, queries),
		mixed:   make([]uint64, queries),
	}
	for i := range work.present {
		work.present[i] = work.keys[mix(absent-1-uint64(i))%count]
		work.mixed[i] = work.absent[i]
		if mix(uint64(i))%2 == 0 {
			work.mixed[i] = work.present[i]
		}
	}
	return work
}

// A filter has its loops in itself, so that the call of the library is a direct one.
type filter interface {
	insert(keys []uint64)
	count(keys []uint64) int
	sizeBytes() float64
}

type bitsAndBlooms struct{ *bloom.BloomFilter }

func newBitsAndBlooms(keys uint64) filter {
	return bitsAndBlooms{bloom.NewWithEstimates(uint(keys), fpr)}
}

func (f bitsAndBlooms) insert(keys []uint64) {
	var bytes [8]byte
	for _, key := range keys {
		binary.LittleEndian.PutUint64(bytes[:], key)
		f.Add(bytes[:])
	}
}

func (f bitsAndBlooms) count(keys []uint64) int {
	var bytes [8]byte
	hits := 0
	for _, key := range keys {
		binary.LittleEndian.PutUint64(bytes[:], key)
		if f.Test(bytes[:]) {
			hits++
		}
	}
	return hits
}

func (f bitsAndBlooms) sizeBytes() float64 { return float64(f.Cap()) / 8 }

type blocked struct{ *blobloom.Filter }

func newBlocked(keys uint64) filter {
	return blocked{blobloom.NewOptimized(blobloom.Config{Capacity: keys, FPRate: fpr})}
}

// hash is MurmurHash3's finaliser. The library leaves hashing to its user; for integers nothing that
// is good enough is cheaper.
func hash(key uint64) uint64 {
	key = (key ^ (key >> 33)) * 0xff51afd7ed558ccd
	key = (key ^ (key >> 33)) * 0xc4ceb9fe1a85ec53
	return key ^ (key >> 33)
}

func (f blocked) insert(keys []uint64) {
	for _, key := range keys {
		f.Add(hash(key))
	}
}

func (f blocked) count(keys []uint64) int {
	hits := 0
	for _, key := range keys {
		if f.Has(hash(key)) {
			hits++
		}
	}
	return hits
}

func (f blocked) sizeBytes() float64 { return float64(f.NumBits()) / 8 }

type cuckooFilter struct{ *cuckoo.Filter }

func newCuckoo(keys uint64) filter {
	return &cuckooFilter{cuckoo.NewFilter(uint(keys))}
}

// The library rounds the room up to a power of two. Where that is little more than the keys need (one
// million: a load of 95.4 %), about one set in a hundred does not fit, and its user must start anew.
func (f *cuckooFilter) insert(keys []uint64) {
	for room := 2 * uint(len(keys)); !f.tryInsert(keys); room *= 2 {
		f.Filter = cuckoo.NewFilter(room)
	}
}

func (f *cuckooFilter) tryInsert(keys []uint64) bool {
	var bytes [8]byte
	for _, key := range keys {
		binary.LittleEndian.PutUint64(bytes[:], key)
		if !f.Insert(bytes[:]) {
			return false
		}
	}
	return true
}

func (f *cuckooFilter) count(keys []uint64) int {
	var bytes [8]byte
	hits := 0
	for _, key := range keys {
		binary.LittleEndian.PutUint64(bytes[:], key)
		if f.Lookup(bytes[:]) {
			hits++
		}
	}
	return hits
}

func (f *cuckooFilter) sizeBytes() float64 { return float64(len(f.Encode())) }

type contender struct {
	name, version string
	create        func(keys uint64) filter
	filter        filter
}

func (c *contender) print(subject, format string, values ...any) {
	// The compiler's default is the oldest amd64.
	fmt.Printf(`{"subject": "%s", "name": "%s", "build": "baseline", `, subject, c.name)
	fmt.Printf(format+"}\n", values...)
}

func (c *contender) time(work *workload, operation string, operations int, run func()) {
	start := time.Now()
	run()
	ns := float64(time.Since(start).Nanoseconds()) / float64(operations)
	c.print("time", `"keys": %d, "operation": "%s", "ns": %.6g`, len(work.keys), operation, ns)
}

func (c *contender) fill(work *workload) {
	c.filter = nil
	runtime.GC()
	c.filter = c.create(uint64(len(work.keys)))
	c.time(work, "insert", len(work.keys), func() { c.filter.insert(work.keys) })
}

func (c *contender) start(work *workload) {
	c.print("contender", `"version": "%s"`, c.version)
	c.fill(work)
	c.print("size", `"keys": %d, "bits_per_key": %.6g, "rate": %.6g`, len(work.keys),
		8*c.filter.sizeBytes()/float64(len(work.keys)),
		float64(c.filter.count(work.absent))/queries)
	if c.filter.count(work.present) != queries {
		fail("%s lost a key", c.name)
	}
}

func (c *contender) round(work *workload) {
	if len(work.keys) <= small {
		c.fill(work)
	}
	c.time(work, "absent", queries, func() { c.filter.count(work.absent) })
	c.time(work, "present", queries, func() { c.filter.count(work.present) })
	c.time(work, "mixed", queries, func() { c.filter.count(work.mixed) })
}

func fail(format string, values ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", values...)
	os.Exit(1)
}

func main() {
	var keys uint64
	if len(os.Args) == 2 {
		keys, _ = strconv.ParseUint(os.Args[1], 10, 64)
	}
	if keys == 0 {
		fmt.Fprintf(os.Stderr, "usage: %s KEYS, then one line of input for each round\n", os.Args[0])
		os.Exit(2)
	}
	contenders := []contender{
		{name: "bits-and-blooms", version: bloomVersion, create: newBitsAndBlooms},
		{name: "blobloom", version: blobloomVersion, create: newBlocked},
		{name: "cuckoofilter", version: cuckooVersion, create: newCuckoo},
	}
	work := newWorkload(keys)
	for i := range contenders {
		contenders[i].start(work)
	}
	fmt.Println(`{"subject": "done"}`)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		for i := range contenders {
			contenders[i].round(work)
		}
		fmt.Println(`{"subject": "done"}`)
	}
}
