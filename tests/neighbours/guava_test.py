"""Guava for Java: both strategies, and the funnels that make bytes of objects."""

import random

import exchange

ARGUMENTS = exchange.arguments()
JAVA = exchange.need_program("java", "default-jdk-headless")
JAVAC = exchange.need_program("javac", "default-jdk-headless")
GUAVA = exchange.need("/usr/share/java/guava.jar", "libguava-java")
# -nowarn: the annotations that Guava's classes carry are in another package.
SOURCE = exchange.HERE / "guava/GuavaNeighbour.java"
exchange.build([JAVAC, "-nowarn", "-cp", GUAVA, "-d", ARGUMENTS.work, SOURCE])

PLANS = [(1, 0.01), (1, 0.5), (10, 0.03), (10, 1e-12), (1000, 0.01), (1000, 0.5), (5000, 0.001)]


def guava(strategy, funnel):
    path = f"{GUAVA}:{ARGUMENTS.work}"
    # The small compiler alone, and the small collector: most of the time is for starting.
    options = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m"]
    name = "com.google.common.hash.GuavaNeighbour"
    return exchange.Program(JAVA, *options, "-cp", path, name, strategy, funnel)


def texts(seed, count):
    """Strings of one to four bytes for each character, and no halves of surrogate pairs."""
    source = random.Random(seed)
    alphabet = "\0 az~é߿ࠀ键\ud7ff\ue000\uffff🔑\U0010ffff"
    return ["".join(source.choices(alphabet, k=source.randrange(12))).encode() for _ in range(count)]


def numbers(seed, count, bits):
    source = random.Random(seed)
    lowest = -(1 << (bits - 1))
    return [0, 1, -1, lowest, ~lowest, *(source.randrange(lowest, -lowest) for _ in range(count))]


class GuavaTest(exchange.ExchangeTest):
    def check(self, strategy, funnel, make, spell=exchange.hex_or_number, odd=(), plans=((1000, 0.01),)):
        ours = exchange.Program(ARGUMENTS.driver, f"guava{strategy}", spell=spell)
        theirs = guava(strategy, funnel)
        others = make(1, 10_000)
        for keys, fpr in plans:
            with self.subTest(strategy=strategy, funnel=funnel, keys=keys, fpr=fpr):
                self.exchange(
                    ours,
                    theirs,
                    lambda side: side.plan(keys, fpr),
                    [*odd, *make(keys, keys)],
                    make(keys + 1, keys // 4),
                    others,
                )

    def test_bytes(self):
        for strategy in ("32", "64"):
            self.check(
                strategy, "bytes", exchange.random_keys, odd=exchange.odd_keys(), plans=PLANS
            )

    def test_strings(self):
        for strategy in ("32", "64"):
            self.check(strategy, "string", texts)

    def test_ints_are_four_bytes(self):
        for strategy in ("32", "64"):
            self.check(
                strategy,
                "int",
                lambda seed, count: numbers(seed, count, 32),
                spell=lambda number: number.to_bytes(4, "little", signed=True).hex(),
            )

    def test_longs_are_integers(self):
        for strategy in ("32", "64"):
            self.check(strategy, "long", lambda seed, count: numbers(seed, count, 64))

    def test_more_hashes_than_we_plan(self):
        for strategy in ("32", "64"):
            ours = exchange.Program(ARGUMENTS.driver, f"guava{strategy}")
            theirs = guava(strategy, "bytes")
            size = theirs.plan(100, 6e-20)
            self.assertEqual(size.split()[1], "64")
            self.exchange(
                ours,
                theirs,
                lambda side: side.plan(100, 6e-20) if side is theirs else side.create(size),
                exchange.random_keys(1, 150),
                exchange.random_keys(2, 150),
                exchange.random_keys(3, 10_000),
            )

    def test_plans(self):
        for strategy in ("32", "64"):
            ours = exchange.Program(ARGUMENTS.driver, f"guava{strategy}")
            self.expect_same_plans(ours, guava(strategy, "bytes"), exchange.random_plans(2, 2000))


if __name__ == "__main__":
    exchange.main()
