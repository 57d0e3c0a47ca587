// A filter of bits-and-blooms/bloom, driven by lines as ../neighbour.cpp describes them.
//
//	go_neighbour binary|json
package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/bits-and-blooms/bloom"
)

func fromHex(text string) ([]byte, error) {
	if text == "-" {
		return nil, nil
	}
	return hex.DecodeString(text)
}

func read(isJSON bool, text string) (*bloom.BloomFilter, error) {
	file, err := fromHex(text)
	if err != nil {
		return nil, err
	}
	filter := &bloom.BloomFilter{}
	if isJSON {
		err = json.Unmarshal(file, filter)
	} else {
		_, err = filter.ReadFrom(bytes.NewReader(file))
	}
	return filter, err
}

func write(isJSON bool, filter *bloom.BloomFilter) (string, error) {
	if isJSON {
		text, err := json.Marshal(filter)
		return hex.EncodeToString(text), err
	}
	var file bytes.Buffer
	_, err := filter.WriteTo(&file)
	return hex.EncodeToString(file.Bytes()), err
}

// 1 or 0 for each key, as `verb` says of it.
func eachKey(keys []string, verb func([]byte) bool) (string, error) {
	answers := make([]byte, len(keys))
	for i, text := range keys {
		key, err := fromHex(text)
		if err != nil {
			return "", err
		}
		answers[i] = '0'
		if verb(key) {
			answers[i] = '1'
		}
	}
	return string(answers), nil
}

type session struct {
	isJSON bool
	filter *bloom.BloomFilter
}

func (s *session) size() string {
	return fmt.Sprintf("%d %d", s.filter.Cap(), s.filter.K())
}

func (s *session) run(words []string) (string, error) {
	switch verb := words[0]; verb {
	case "plan":
		keys, err := strconv.ParseUint(words[1], 10, 64)
		if err != nil {
			return "", err
		}
		fpr, err := strconv.ParseFloat(words[2], 64)
		if err != nil {
			return "", err
		}
		s.filter = bloom.NewWithEstimates(uint(keys), fpr)
		return s.size(), nil
	case "create":
		bits, err := strconv.ParseUint(words[1], 10, 64)
		if err != nil {
			return "", err
		}
		hashes, err := strconv.ParseUint(words[2], 10, 64)
		if err != nil {
			return "", err
		}
		s.filter = bloom.New(uint(bits), uint(hashes))
		return s.size(), nil
	case "read":
		filter, err := read(s.isJSON, words[1])
		if err != nil {
			return "", err
		}
		s.filter = filter
		return s.size(), nil
	case "write":
		return write(s.isJSON, s.filter)
	case "add":
		return eachKey(words[1:], func(key []byte) bool { return !s.filter.TestAndAdd(key) })
	case "ask":
		return eachKey(words[1:], s.filter.Test)
	case "merge":
		other, err := read(s.isJSON, words[1])
		if err != nil {
			return "", err
		}
		return s.size(), s.filter.Merge(other)
	}
	return "", errors.New("unknown command")
}

func main() {
	s := session{isJSON: len(os.Args) > 1 && os.Args[1] == "json"}
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadString('\n')
		if err == io.EOF {
			return
		}
		answer, err := s.run(strings.Fields(line))
		if err != nil {
			answer = "error " + err.Error()
		}
		fmt.Println(answer)
	}
}
