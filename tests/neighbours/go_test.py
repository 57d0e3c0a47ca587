"""bits-and-blooms/bloom for Go, in binary and JSON."""

import os

import exchange

# Debian's Go libraries are source below this folder.
GOPATH = "/usr/share/gocode"

ARGUMENTS = exchange.arguments()
GO = exchange.need_program("go", "golang-go")
exchange.need(f"{GOPATH}/src/github.com/bits-and-blooms/bloom", "golang-github-willf-bloom-dev")
PROGRAM = ARGUMENTS.work / "go_neighbour"
# Nothing is taken from the network or from the user's settings.
exchange.build(
    [GO, "build", "-o", PROGRAM, exchange.HERE / "go/main.go"],
    PATH=os.environ["PATH"],
    GOENV="off",
    GO111MODULE="off",
    GOPROXY="off",
    GOPATH=GOPATH,
    GOCACHE=str(ARGUMENTS.work / "gocache"),
)

# Bits and hashes: one bit, one hash, as many hashes as we have room for, and sizes around whole words.
SIZES = [(1, 1), (2, 5), (63, 3), (64, 1), (65, 2), (100, 3), (127, 13), (4096, 1), (9999, 64)]
PLANS = [(1, 0.01), (10, 1e-9), (1000, 0.01), (1000, 0.5), (3000, 0.001), (5000, 0.3)]


class GoTest(exchange.ExchangeTest):
    def check(self, our_format, their_format):
        ours = exchange.Program(ARGUMENTS.driver, our_format)
        theirs = exchange.Program(PROGRAM, their_format)
        others = exchange.random_keys(1, 10_000)
        for bits, hashes in SIZES:
            # Enough for false positives, too few to set every bit of all but the smallest.
            count = max(1, bits // hashes // 3)
            with self.subTest(bits=bits, hashes=hashes):
                self.exchange(
                    ours,
                    theirs,
                    lambda side: side.create(bits, hashes),
                    exchange.random_keys(bits, count),
                    exchange.random_keys(bits + 1, count),
                    others,
                )
        for keys, fpr in PLANS:
            with self.subTest(keys=keys, fpr=fpr):
                self.exchange(
                    ours,
                    theirs,
                    lambda side: side.plan(keys, fpr),
                    exchange.odd_keys() + exchange.random_keys(keys, keys),
                    exchange.random_keys(keys + 1, keys // 4),
                    others,
                )

    def test_binary(self):
        self.check("go", "binary")

    def test_json(self):
        self.check("go_json", "json")

    def test_plans(self):
        ours = exchange.Program(ARGUMENTS.driver, "go")
        theirs = exchange.Program(PROGRAM, "binary")
        self.expect_same_plans(ours, theirs, exchange.random_plans(1, 3000))


if __name__ == "__main__":
    exchange.main()
