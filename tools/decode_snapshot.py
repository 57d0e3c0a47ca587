#!/usr/bin/env python3
"""Verifies a snapshot of a filter, shows what is in it and answers which keys it holds.

Written from docs/format.md alone, with the names of that document, so that it proves that the document
is complete. Nothing but Python's standard library is used, and the command `zstd` for sparse payloads.

    decode_snapshot.py FILE                    verifies FILE, prints its header fields and its sections
    decode_snapshot.py FILE --keys KEYSFILE    also prints `yes KEY` or `no KEY` for each line of KEYSFILE
        --integers                             the lines are decimal integers, hashed as integers
        --secret HEX                           the secret of a keyed filter, 32 hexadecimal digits
    decode_snapshot.py FILE --hexdump          prints the bytes of FILE instead of the fields, without
                                               the lines that are all zeros

Of a delta, `yes` says that all bits of the key are in the delta itself.

Exit codes: 0 fine; 1 the file, or the secret for it, is refused; 2 wrong usage, a file that cannot be read,
or no `zstd`. Nothing is printed before everything has been verified.
"""

import argparse
import dataclasses
import operator
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator

M32 = 2**32 - 1
M64 = 2**64 - 1

MAGIC = bytes.fromhex("89 50 52 42 4c 0d 0a 1a")
VERSION = 1
HEADER_BYTES = 4096
PAGE = 4096
SECTION_TABLE = 96
ENTRY_BYTES = 32

BLOOM, BLOCKED, SPLIT_BLOCK, SCALABLE = 1, 2, 3, 4
GO_BLOOM, GUAVA_32, GUAVA_64, DCSO, REDIS_BLOOM = 5, 6, 7, 8, 9
REDIS_CHAIN = 10
KINDS = {
    BLOOM: "bloom",
    BLOCKED: "blocked",
    SPLIT_BLOCK: "split_block",
    SCALABLE: "scalable",
    GO_BLOOM: "go_bloom",
    GUAVA_32: "guava_32",
    GUAVA_64: "guava_64",
    DCSO: "dcso",
    REDIS_BLOOM: "redis_bloom",
    REDIS_CHAIN: "redis_chain",
}
FOREIGN = (GO_BLOOM, GUAVA_32, GUAVA_64, DCSO, REDIS_BLOOM, REDIS_CHAIN)
HAS_BITS_AND_HASHES = (BLOOM, GO_BLOOM, GUAVA_32, GUAVA_64, DCSO, REDIS_BLOOM)
HAS_LINKS = (SCALABLE, REDIS_CHAIN)
PLAIN, SPARSE = 0, 1
ENCODINGS = {PLAIN: "plain", SPARSE: "sparse"}
WHOLE, DELTA = 0, 1
EXTENTS = {WHOLE: "the whole filter", DELTA: "a delta"}
XXH3, SIPHASH24, MURMUR3, XXH64, FNV1A, SCHEME = 1, 2, 3, 4, 5, 6
HASH_ALGORITHMS = {
    XXH3: "xxh3",
    SIPHASH24: "siphash24",
    MURMUR3: "murmur3",
    XXH64: "xxh64",
    FNV1A: "fnv1a",
    SCHEME: "scheme",
}
NO_SECRET, SECRET_ELSEWHERE, SECRET_STORED = 0, 1, 2
SECRET_STATES = {
    NO_SECRET: "the algorithm has none",
    SECRET_ELSEWHERE: "not in the file",
    SECRET_STORED: "in the file",
}

SALTS = (
    0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D, 0x705495C7, 0x2DF1424B, 0x9EFC4947, 0x5C6BFB31,
)  # fmt: skip


class Refused(Exception):
    """The file is not a snapshot that a reader may believe."""


class Unanswerable(Exception):
    """Not the file's fault: wrong usage, or something is missing."""


def refuse_unless(condition: bool, why: str) -> None:
    if not condition:
        raise Refused(why)


# ---- Hash functions ------------------------------------------------------------------------------------


def u32_at(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 4], "little")


def u64_at(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 8], "little")


def rotate_left(x: int, count: int) -> int:
    return ((x << count) | (x >> (64 - count))) & M64


def high(product: int) -> int:
    return product >> 64


def low(product: int) -> int:
    return product & M64


def fold(a: int, b: int) -> int:
    """The upper half of a * b, xor the lower one."""
    return high(a * b) ^ low(a * b)


PRIME32_1, PRIME32_2, PRIME32_3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
PRIME64_1 = 0x9E3779B185EBCA87
PRIME64_2 = 0xC2B2AE3D27D4EB4F
PRIME64_3 = 0x165667B19E3779F9
PRIME64_4 = 0x85EBCA77C2B2AE63
PRIME64_5 = 0x27D4EB2F165667C5


def xxh64_round(acc: int, word: int) -> int:
    return rotate_left((acc + word * PRIME64_2) & M64, 31) * PRIME64_1 & M64


def xxh64_avalanche(h: int) -> int:
    h = (h ^ (h >> 33)) * PRIME64_2 & M64
    h = (h ^ (h >> 29)) * PRIME64_3 & M64
    return h ^ (h >> 32)


def xxh64_stripes(data: bytes, seed: int) -> int:
    """What the whole stripes of 32 bytes, at least one, contribute to XXH64."""
    accs = [(seed + add) & M64 for add in (PRIME64_1 + PRIME64_2, PRIME64_2, 0, -PRIME64_1)]
    for at in range(0, len(data) - 31, 32):
        accs = [xxh64_round(acc, word) for acc, word in zip(accs, struct.unpack_from("<4Q", data, at))]
    h = sum(rotate_left(acc, count) for acc, count in zip(accs, (1, 7, 12, 18))) & M64
    for acc in accs:
        h = ((h ^ xxh64_round(0, acc)) * PRIME64_1 + PRIME64_4) & M64
    return h


def xxh64(data: bytes, seed: int) -> int:
    h = xxh64_stripes(data, seed) if len(data) >= 32 else (seed + PRIME64_5) & M64
    h = (h + len(data)) & M64
    at = len(data) // 32 * 32
    while at + 8 <= len(data):
        h ^= xxh64_round(0, u64_at(data, at))
        h = (rotate_left(h, 27) * PRIME64_1 + PRIME64_4) & M64
        at += 8
    if at + 4 <= len(data):
        h ^= u32_at(data, at) * PRIME64_1 & M64
        h = (rotate_left(h, 23) * PRIME64_2 + PRIME64_3) & M64
        at += 4
    for byte in data[at:]:
        h ^= byte * PRIME64_5 & M64
        h = rotate_left(h, 11) * PRIME64_1 & M64
    return xxh64_avalanche(h)


XXH3_DEFAULT_SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
    "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
    "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e"
    "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)


def xxh3_avalanche(h: int) -> int:
    h = (h ^ (h >> 37)) * 0x165667919E3779F9 & M64
    return h ^ (h >> 32)


def xxh3_1_to_3(data: bytes, secret: bytes) -> int:
    size = len(data)
    combined = data[0] << 16 | data[size >> 1] << 24 | data[-1] | size << 8
    return xxh64_avalanche(combined ^ u32_at(secret, 0) ^ u32_at(secret, 4))


def xxh3_4_to_8(data: bytes, secret: bytes) -> int:
    size = len(data)
    word = u32_at(data, size - 4) + (u32_at(data, 0) << 32)
    h = word ^ u64_at(secret, 8) ^ u64_at(secret, 16)
    h ^= rotate_left(h, 49) ^ rotate_left(h, 24)
    h = h * 0x9FB21C651E98DF25 & M64
    h ^= (h >> 35) + size
    h = h * 0x9FB21C651E98DF25 & M64
    return h ^ (h >> 28)


def xxh3_9_to_16(data: bytes, secret: bytes) -> int:
    size = len(data)
    first = u64_at(data, 0) ^ u64_at(secret, 24) ^ u64_at(secret, 32)
    last = u64_at(data, size - 8) ^ u64_at(secret, 40) ^ u64_at(secret, 48)
    swapped = int.from_bytes(first.to_bytes(8, "little"), "big")
    return xxh3_avalanche((size + swapped + last + fold(first, last)) & M64)


def xxh3_mix16(data: bytes, at: int, secret: bytes, secret_at: int) -> int:
    return fold(
        u64_at(data, at) ^ u64_at(secret, secret_at),
        u64_at(data, at + 8) ^ u64_at(secret, secret_at + 8),
    )


def xxh3_17_to_128(data: bytes, secret: bytes) -> int:
    size = len(data)
    h = size * PRIME64_1
    for i in range((size - 1) // 32 + 1):
        h += xxh3_mix16(data, 16 * i, secret, 32 * i)
        h += xxh3_mix16(data, size - 16 * (i + 1), secret, 32 * i + 16)
    return xxh3_avalanche(h & M64)


def xxh3_129_to_240(data: bytes, secret: bytes) -> int:
    size = len(data)
    h = size * PRIME64_1
    for i in range(8):
        h += xxh3_mix16(data, 16 * i, secret, 16 * i)
    h = xxh3_avalanche(h & M64)
    for i in range(8, size // 16):
        h += xxh3_mix16(data, 16 * i, secret, 16 * (i - 8) + 3)
    h += xxh3_mix16(data, size - 16, secret, 136 - 17)
    return xxh3_avalanche(h & M64)


def xxh3_accumulate(accs: list[int], words: tuple[int, ...], secret_words: tuple[int, ...]) -> None:
    """Adds stripes of eight words to the accumulators, which may then be above 2^64.

    The secret moves on by one word per stripe: lane i of stripe n meets secret word n + i.
    """
    for i in range(8):
        lane = words[i::8]
        accs[i ^ 1] += sum(lane)
        accs[i] += sum([(key & M32) * (key >> 32) for key in map(operator.xor, lane, secret_words[i:])])


def xxh3_scramble(acc: int, secret_word: int) -> int:
    acc &= M64
    return (acc ^ (acc >> 47) ^ secret_word) * PRIME32_1 & M64


def xxh3_long(data: bytes, secret: bytes) -> int:
    size = len(data)
    stripes_per_block = (len(secret) - 64) // 8
    block = 64 * stripes_per_block
    secret_words = struct.unpack(f"<{len(secret) // 8}Q", secret)
    accs = [PRIME32_3, PRIME64_1, PRIME64_2, PRIME64_3, PRIME64_4, PRIME32_2, PRIME64_5, PRIME32_1]
    whole_blocks = (size - 1) // block
    for at in range(0, whole_blocks * block, block):
        xxh3_accumulate(accs, struct.unpack_from(f"<{block // 8}Q", data, at), secret_words)
        accs = list(map(xxh3_scramble, accs, secret_words[-8:]))
    at = whole_blocks * block
    stripes = (size - 1 - at) // 64
    xxh3_accumulate(accs, struct.unpack_from(f"<{8 * stripes}Q", data, at), secret_words)
    last_secret = struct.unpack_from("<8Q", secret, len(secret) - 64 - 7)
    xxh3_accumulate(accs, struct.unpack_from("<8Q", data, size - 64), last_secret)
    h = size * PRIME64_1
    for i in range(0, 8, 2):
        first = (accs[i] & M64) ^ u64_at(secret, 11 + 8 * i)
        second = (accs[i + 1] & M64) ^ u64_at(secret, 11 + 8 * i + 8)
        h += fold(first, second)
    return xxh3_avalanche(h & M64)


def xxh3(data: bytes, secret: bytes = XXH3_DEFAULT_SECRET) -> int:
    """XXH3_64bits_withSecret with a secret of 192 bytes; with the default one, XXH3_64bits."""
    size = len(data)
    if size > 240:
        return xxh3_long(data, secret)
    if size > 128:
        return xxh3_129_to_240(data, secret)
    if size > 16:
        return xxh3_17_to_128(data, secret)
    if size > 8:
        return xxh3_9_to_16(data, secret)
    if size > 3:
        return xxh3_4_to_8(data, secret)
    if size > 0:
        return xxh3_1_to_3(data, secret)
    return xxh64_avalanche(u64_at(secret, 56) ^ u64_at(secret, 64))


def siphash24(data: bytes, key: bytes) -> int:
    k0, k1 = struct.unpack("<2Q", key)
    v0, v1 = k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D
    v2, v3 = k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573

    def rounds(count: int) -> None:
        nonlocal v0, v1, v2, v3
        for _ in range(count):
            v0 = (v0 + v1) & M64
            v1 = rotate_left(v1, 13) ^ v0
            v0 = rotate_left(v0, 32)
            v2 = (v2 + v3) & M64
            v3 = rotate_left(v3, 16) ^ v2
            v0 = (v0 + v3) & M64
            v3 = rotate_left(v3, 21) ^ v0
            v2 = (v2 + v1) & M64
            v1 = rotate_left(v1, 17) ^ v2
            v2 = rotate_left(v2, 32)

    padded = data + bytes(7 - len(data) % 8) + bytes([len(data) % 256])
    for (word,) in struct.iter_unpack("<Q", padded):
        v3 ^= word
        rounds(2)
        v0 ^= word
    v2 ^= 0xFF
    rounds(4)
    return v0 ^ v1 ^ v2 ^ v3


def murmur3_mix(h: int) -> int:
    h = (h ^ (h >> 33)) * 0xFF51AFD7ED558CCD & M64
    h = (h ^ (h >> 33)) * 0xC4CEB9FE1A85EC53 & M64
    return h ^ (h >> 33)


def murmur3(data: bytes, seed: int) -> tuple[int, int]:
    """The two words of MurmurHash3 x64 128."""
    c1, c2 = 0x87C37B91114253D5, 0x4CF5AD432745937F
    h1 = h2 = seed
    whole = len(data) // 16 * 16
    for k1, k2 in struct.iter_unpack("<2Q", data[:whole]):
        h1 ^= rotate_left(k1 * c1 & M64, 31) * c2 & M64
        h1 = ((rotate_left(h1, 27) + h2) * 5 + 0x52DCE729) & M64
        h2 ^= rotate_left(k2 * c2 & M64, 33) * c1 & M64
        h2 = ((rotate_left(h2, 31) + h1) * 5 + 0x38495AB5) & M64
    k1, k2 = u64_at(data, whole), u64_at(data, whole + 8)
    h1 ^= (rotate_left(k1 * c1 & M64, 31) * c2 & M64) ^ len(data)
    h2 ^= (rotate_left(k2 * c2 & M64, 33) * c1 & M64) ^ len(data)
    h1 = (h1 + h2) & M64
    h2 = (h2 + h1) & M64
    h1, h2 = murmur3_mix(h1), murmur3_mix(h2)
    h1 = (h1 + h2) & M64
    return h1, (h2 + h1) & M64


def murmur64a(data: bytes, seed: int) -> int:
    m = 0xC6A4A7935BD1E995
    h = seed ^ (len(data) * m & M64)
    whole = len(data) // 8 * 8
    for (k,) in struct.iter_unpack("<Q", data[:whole]):
        k = k * m & M64
        k = (k ^ (k >> 47)) * m & M64
        h = (h ^ k) * m & M64
    if whole < len(data):
        h = (h ^ int.from_bytes(data[whole:], "little")) * m & M64
    h = (h ^ (h >> 47)) * m & M64
    return h ^ (h >> 47)


def fnv1(data: bytes) -> int:
    h = 0xCBF29CE484222325
    for byte in data:
        h = (h * 0x100000001B3 & M64) ^ byte
    return h


def fnv1a(data: bytes) -> int:
    h = 0xCBF29CE484222325
    for byte in data:
        h = (h ^ byte) * 0x100000001B3 & M64
    return h


def checksum(data: bytes) -> int:
    return xxh3(data)


# ---- Hashers: how a key becomes a digest ---------------------------------------------------------------

# Of a kind that has none, the key itself.
Digest = Callable[[bytes], int | bytes]
IntegerDigest = Callable[[int], int | bytes]


def splitmix64(state: int) -> Iterator[int]:
    while True:
        state = (state + 0x9E3779B97F4A7C15) & M64
        z = state
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & M64
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB & M64
        yield z ^ (z >> 31)


def secret_of_xxh3(seed: int) -> bytes:
    steps = splitmix64(next(splitmix64(seed)))
    return struct.pack("<24Q", *(next(steps) for _ in range(24)))


def fingerprint_of(secret: bytes) -> int:
    return siphash24(b"probably: fingerprint of a secret", secret)


def xxh3_of_integer(v: int, secret: bytes) -> int:
    f = fold(v ^ u64_at(secret, 0), u64_at(secret, 8))
    t = f * 0x9E3779B97F4A7C15 & M64
    return t ^ (t >> 32)


def key_for_words(secret: bytes) -> bytes:
    return struct.pack(
        "<2Q",
        siphash24(b"probably: first half of the key for words", secret),
        siphash24(b"probably: second half of the key for words", secret),
    )


def hasher(algorithm: int, seed: int, secret: bytes) -> tuple[Digest, IntegerDigest]:
    """The digest of a key that is bytes, and that of an integer extended to 64 bits."""
    if algorithm == XXH3:
        xxh3_secret = secret_of_xxh3(seed)
        return lambda key: xxh3(key, xxh3_secret), lambda v: xxh3_of_integer(v, xxh3_secret)
    if algorithm == SIPHASH24:
        word_key = key_for_words(secret)
        return lambda key: siphash24(key, secret), lambda v: siphash24(v.to_bytes(8, "little"), word_key)
    digest: Digest
    if algorithm == MURMUR3:
        digest = lambda key: murmur3(key, seed)[0]  # noqa: E731
    elif algorithm == XXH64:
        digest = lambda key: xxh64(key, seed)  # noqa: E731
    elif algorithm == FNV1A:
        digest = fnv1a
    else:
        digest = lambda key: key  # noqa: E731
    return digest, lambda v: digest(v.to_bytes(8, "little"))


# ---- Header --------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Section:
    bytes: int
    lines: int
    slices: int
    inserted: int

    @property
    def padded_bytes(self) -> int:
        return -(-self.bytes // PAGE) * PAGE


@dataclasses.dataclass
class Header:
    version: int
    kind: int
    encoding: int
    extent: int
    hash_algorithm: int
    secret_state: int
    created: int
    fingerprint: int
    secret: bytes
    params: tuple[int, int, int]
    chunk_bytes: int
    payload_bytes: int
    promised_fpr: float
    sections: list[Section]

    @property
    def chunks(self) -> int:
        return sum(-(-section.padded_bytes // self.chunk_bytes) for section in self.sections)

    @property
    def trailer_bytes(self) -> int:
        return 8 * (len(self.sections) + self.chunks + 1)

    def bits(self, section: Section) -> int:
        """How many bits of the section may be set."""
        return self.params[0] if self.kind in HAS_BITS_AND_HASHES else 8 * section.bytes


def read_header(data: bytes) -> Header:
    """Points 1 to 7 of what a reader does."""
    refuse_unless(data[:8] == MAGIC, "it does not begin with the magic of a snapshot")
    refuse_unless(len(data) >= 10, "it ends within the header")
    version = int.from_bytes(data[8:10], "little")
    refuse_unless(version == VERSION, f"its version is {version}, known is {VERSION}")
    refuse_unless(len(data) >= HEADER_BYTES, "it ends within the header")
    refuse_unless(u64_at(data, 4088) == checksum(data[:4088]), "the checksum of the header is wrong")
    header = parse_header(data, version)
    check_secret(header)
    check_params(header)
    check_sections(header)
    return header


def parse_header(data: bytes, version: int) -> Header:
    kind, encoding, extent, hash_algorithm, secret_state, reserved = struct.unpack_from("<6B", data, 10)
    refuse_unless(kind in KINDS, f"unknown kind {kind}")
    refuse_unless(encoding in ENCODINGS, f"unknown encoding {encoding}")
    refuse_unless(extent in EXTENTS, f"unknown extent {extent}")
    refuse_unless(hash_algorithm in HASH_ALGORITHMS, f"unknown hash algorithm {hash_algorithm}")
    refuse_unless(secret_state in SECRET_STATES, f"unknown state {secret_state} of the secret")
    refuse_unless(extent == WHOLE or encoding == SPARSE, "a delta that is not sparse")
    created, fingerprint = struct.unpack_from("<2Q", data, 16)
    params = struct.unpack_from("<3Q", data, 48)
    chunk_bytes, sections, payload_bytes, promised_fpr = struct.unpack_from("<IIQQ", data, 72)
    refuse_unless(reserved == 0, "a reserved field of the header is not zero")
    refuse_unless(promised_fpr == 0 or 0 < rate_of(promised_fpr) < 1, "the promised rate is no rate")
    refuse_unless(1 <= sections <= 64, f"{sections} sections instead of 1 to 64")
    table_end = SECTION_TABLE + sections * ENTRY_BYTES
    refuse_unless(not any(data[table_end:4088]), "something behind the section table is not zero")
    return Header(
        version=version,
        kind=kind,
        encoding=encoding,
        extent=extent,
        hash_algorithm=hash_algorithm,
        secret_state=secret_state,
        created=created,
        fingerprint=fingerprint,
        secret=data[32:48],
        params=params,
        chunk_bytes=chunk_bytes,
        payload_bytes=payload_bytes,
        promised_fpr=rate_of(promised_fpr),
        sections=[Section(*entry) for entry in struct.iter_unpack("<4Q", data[SECTION_TABLE:table_end])],
    )


def check_secret(header: Header) -> None:
    keyed = header.hash_algorithm == SIPHASH24
    name = HASH_ALGORITHMS[header.hash_algorithm]
    refuse_unless(keyed or header.secret_state == NO_SECRET, f"{name} has no secret, the header says it has")
    refuse_unless(not keyed or header.secret_state != NO_SECRET, f"{name} needs a secret")
    if header.secret_state == SECRET_STORED:
        is_right = fingerprint_of(header.secret) == header.fingerprint
        refuse_unless(is_right, "the stored secret has another fingerprint")
    else:
        refuse_unless(not any(header.secret), "there is a secret, but it is not said to be stored")
    if header.hash_algorithm == MURMUR3:
        refuse_unless(header.fingerprint < 2**32, "the seed of murmur3 is not below 2^32")
    if header.hash_algorithm in (FNV1A, SCHEME):
        refuse_unless(header.fingerprint == 0, f"the fingerprint of {name} is not 0")
    is_foreign = header.kind in FOREIGN
    refuse_unless(is_foreign == (header.hash_algorithm == SCHEME), f"kind {header.kind} cannot have {name}")


def rate_of(param: int) -> float:
    return struct.unpack("<d", param.to_bytes(8, "little"))[0]


def check_lines(lines: int, slices: int) -> None:
    refuse_unless(1 <= lines <= 2**51, f"{lines} lines instead of 1 to 2^51")
    refuse_unless(slices in (4, 8, 16), f"{slices} slices instead of 4, 8 or 16")


def check_bits(kind: int, bits: int, hashes: int) -> None:
    refuse_unless(1 <= bits <= 2**60, f"{bits} bits instead of 1 to 2^60")
    is_whole = kind not in (GUAVA_32, GUAVA_64, REDIS_BLOOM, REDIS_CHAIN) or bits % 64 == 0
    refuse_unless(is_whole, f"{bits} bits instead of a multiple of 64")
    refuse_unless(1 <= hashes <= 64, f"{hashes} hashes instead of 1 to 64")


def check_link(kind: int, section: Section) -> None:
    check = check_lines if kind == SCALABLE else lambda bits, hashes: check_bits(kind, bits, hashes)
    check(section.lines, section.slices)


def check_params(header: Header) -> None:
    first, second, third = header.params
    if header.kind in HAS_BITS_AND_HASHES:
        check_bits(header.kind, first, second)
        refuse_unless(third == 0, "the third param is not 0")
    elif header.kind == BLOCKED:
        check_lines(first, second)
        refuse_unless(third == 0, "the third param is not 0")
    elif header.kind == SPLIT_BLOCK:
        refuse_unless(1 <= first < 2**32, f"{first} blocks instead of 1 to 2^32 - 1")
        refuse_unless(second == third == 0, "the second or third param is not 0")
    else:
        refuse_unless(1 <= first <= 10**15, f"{first} keys of the first link instead of 1 to 10^15")
        refuse_unless(1e-9 <= rate_of(second) <= 0.5, f"a rate of {rate_of(second)} instead of 1e-9 to 0.5")
        least, most = (2, 16) if header.kind == SCALABLE else (0, 65536)
        refuse_unless(least <= third <= most, f"a growth of {third} instead of {least} to {most}")


def section_bytes(header: Header, section: Section) -> int:
    """The bytes of a section, as they follow from the params or the lines of the link."""
    if header.kind in HAS_BITS_AND_HASHES:
        return 8 * -(-header.params[0] // 64)
    if header.kind == BLOCKED:
        return 64 * header.params[0]
    if header.kind == SPLIT_BLOCK:
        return 32 * header.params[0]
    return 64 * section.lines if header.kind == SCALABLE else 8 * -(-section.lines // 64)


def check_sections(header: Header) -> None:
    chunk = header.chunk_bytes
    refuse_unless(
        4096 <= chunk <= 2**20 and chunk.bit_count() == 1,
        f"chunks of {chunk} bytes instead of a power of two from 4096 to 2^20",
    )
    most = 48 if header.kind in HAS_LINKS else 1
    refuse_unless(
        len(header.sections) <= most,
        f"{len(header.sections)} sections, kind {KINDS[header.kind]} has at most {most}",
    )
    for number, section in enumerate(header.sections):
        if header.kind in HAS_LINKS:
            check_link(header.kind, section)
            refuse_unless(section.inserted <= 10**15, f"section {number} counts more than 10^15 keys")
        else:
            refuse_unless(
                section.lines == section.slices == section.inserted == 0,
                f"section {number} has lines, slices or inserted keys, but is no link",
            )
        refuse_unless(
            section.bytes == section_bytes(header, section),
            f"section {number} has {section.bytes} bytes instead of {section_bytes(header, section)}",
        )
    padded = sum(section.padded_bytes for section in header.sections)
    stated = header.payload_bytes
    refuse_unless(stated == padded, f"{stated} payload bytes instead of {padded}")


# ---- Kinds: where the bits of a key are ----------------------------------------------------------------


def bloom_places(d: int, m: int, k: int) -> Iterator[int]:
    g = d
    for _ in range(k):
        yield high(g * m)
        g = (g * 6364136223846793005 + 1442695040888963407) & M64


def blocked_places(d: int, lines: int, slices: int) -> Iterator[int]:
    line = high(d * lines)
    patterns = (low(d * lines) >> 32, (d & M32) * 0x9E3779B1 & M32)
    w = {4: 2, 8: 1, 16: 0}[slices]
    for s in range(slices):
        p = patterns[s // 8] * SALTS[s % 8] & M32
        c = p >> (32 - w)
        b = (p >> (27 - w)) & 31
        yield 512 * line + 32 * (s + slices * c) + b


def split_block_places(d: int, blocks: int) -> Iterator[int]:
    block = ((d >> 32) * blocks) >> 32
    x = d & M32
    for j in range(8):
        yield 256 * block + 32 * j + ((x * SALTS[j] & M32) >> 27)


def foreign_places(kind: int, key: bytes, m: int, k: int) -> Iterator[int]:
    if kind == GO_BLOOM:
        h = murmur3(key, 0) + murmur3(key + b"\1", 0)
        for i in range(k):
            yield (h[i % 2] + i * h[2 + (i + i % 2) % 4 // 2] & M64) % m
    elif kind == GUAVA_32:
        first, _ = murmur3(key, 0)
        a, b = first & M32, first >> 32
        for i in range(k):
            c = a + (i + 1) * b & M32
            yield (c if c < 2**31 else c ^ M32) % m
    elif kind == GUAVA_64:
        a, b = murmur3(key, 0)
        for i in range(k):
            yield (a + i * b & (2**63 - 1)) % m
    elif kind == DCSO:
        h = fnv1(key) % 18446744073709551557
        for _ in range(k):
            h = (h * 18446744073709550147 & M64) % 18446744073709551557
            yield h % m
    else:
        a = murmur64a(key, 0xC6A4A7935BD1E995)
        b = murmur64a(key, a)
        for i in range(k):
            yield (a + i * b & M64) % m


def places_of_key(header: Header, section: Section, d: int | bytes) -> list[int]:
    """The bits of the section that are set if the key with digest d is in it."""
    if isinstance(d, bytes) and header.kind == REDIS_CHAIN:
        return list(foreign_places(REDIS_BLOOM, d, section.lines, section.slices))
    if isinstance(d, bytes):
        return list(foreign_places(header.kind, d, header.params[0], header.params[1]))
    if header.kind == BLOOM:
        return list(bloom_places(d, header.params[0], header.params[1]))
    if header.kind == BLOCKED:
        return list(blocked_places(d, header.params[0], header.params[1]))
    if header.kind == SPLIT_BLOCK:
        return list(split_block_places(d, header.params[0]))
    return list(blocked_places(d, section.lines, section.slices))


class Questions:
    """Which bits the keys ask for: looked up chunk by chunk, so that no sparse filter is held in memory."""

    def __init__(self, header: Header, digests: list[int | bytes]) -> None:
        self.chunk_bits = 8 * header.chunk_bytes
        # Per key, per section: the places of the key.
        self.places = [[places_of_key(header, section, d) for section in header.sections] for d in digests]
        # Per section and chunk: the places that are asked for, and later those that are clear.
        self.asked: dict[tuple[int, int], set[int]] = {}
        self.clear: set[tuple[int, int]] = set()
        for sections in self.places:
            for section, places in enumerate(sections):
                for place in places:
                    self.asked.setdefault((section, place // self.chunk_bits), set()).add(place)

    def look_up(self, section: int, chunk: int, bits: bytes) -> None:
        for place in self.asked.get((section, chunk), ()):
            i = place % self.chunk_bits
            if not bits or not bits[i // 8] >> (i % 8) & 1:
                self.clear.add((section, place))

    def answers(self) -> list[bool]:
        return [
            any(
                all((section, place) not in self.clear for place in places)
                for section, places in enumerate(sections)
            )
            for sections in self.places
        ]


# ---- Payload and trailer -------------------------------------------------------------------------------


@dataclasses.dataclass
class Chunk:
    section: int
    number: int  # within the section
    bytes: int  # of bits and padding
    used_bits: int  # those behind them are padding
    begin: int  # of the stored bytes, in the file
    end: int


def cut(header: Header, data: bytes) -> Iterator[Chunk]:
    """The chunks in order; refuses a file that ends before them or before the trailer."""
    last = len(data) - header.trailer_bytes
    at = HEADER_BYTES
    for number, section in enumerate(header.sections):
        for offset in range(0, section.padded_bytes, header.chunk_bytes):
            size = min(header.chunk_bytes, section.padded_bytes - offset)
            used_bits = min(8 * size, header.bits(section) - 8 * offset)
            stored = size if header.encoding == PLAIN else 4 + u32_at(data, at)
            refuse_unless(at + stored <= last, "it is too short for its payload and trailer")
            yield Chunk(number, offset // header.chunk_bytes, size, used_bits, at, at + stored)
            at += stored


def check_length(header: Header, data: bytes, chunks: list[Chunk]) -> int:
    """Point 8 of what a reader does. Where the trailer begins."""
    end = chunks[-1].end
    trailer = end if header.encoding == PLAIN else -(-end // 8) * 8
    expected = trailer + header.trailer_bytes
    refuse_unless(len(data) == expected, f"it has {len(data)} bytes instead of {expected}")
    refuse_unless(not any(data[end:trailer]), "the zeros before the trailer are not zero")
    return trailer


def frame_bytes(data: bytes) -> int:
    """The size of the zstd frame that data begins with, from the headers of the frame and its blocks."""
    refuse_unless(data[:4] == bytes.fromhex("28b52ffd") and len(data) > 4, "a chunk is not a zstd frame")
    descriptor = data[4]
    single_segment = descriptor >> 5 & 1
    at = 5 + (1 - single_segment) + (0, 1, 2, 4)[descriptor & 3]
    at += (single_segment, 2, 4, 8)[descriptor >> 6]
    is_last = False
    while not is_last:
        refuse_unless(at + 3 <= len(data), "the zstd frame of a chunk is cut off")
        block = int.from_bytes(data[at : at + 3], "little")
        is_last = block & 1 == 1
        is_run = block >> 1 & 3 == 1
        at += 3 + (1 if is_run else block >> 3)
    return at + (4 if descriptor >> 2 & 1 else 0)


def run_zstd(program: str, frame: bytes, most: int) -> tuple[bytes, bool]:
    """The first `most` bytes of what the frame decompresses to, and whether that went well to its end."""
    with tempfile.TemporaryFile() as stored:
        stored.write(frame)
        stored.seek(0)
        command = [program, "-d", "-c", "-q"]
        with subprocess.Popen(
            command, stdin=stored, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as process:
            assert process.stdout is not None
            result = process.stdout.read(most)
            if len(result) == most:
                process.kill()
    return result, process.returncode == 0


def decompress(frame: bytes, most: int) -> bytes:
    """What a zstd frame decompresses to, if that is not more than `most` bytes."""
    refuse_unless(frame_bytes(frame) == len(frame), "a chunk is not exactly one zstd frame")
    refuse_unless(len(frame) <= 9 * (most // 8), "the frame of a chunk is larger than allowed")
    program = shutil.which("zstd")
    if program is None:
        raise Unanswerable("the command zstd, which sparse snapshots need, is not installed")
    try:
        result, is_fine = run_zstd(program, frame, most + 1)
    except OSError as error:
        raise Unanswerable(f"zstd cannot be run: {error.strerror}") from error
    refuse_unless(len(result) <= most, "a chunk has more places than bits")
    refuse_unless(is_fine, "zstd cannot decompress a chunk")
    return result


def gaps(encoded: bytes) -> Iterator[int]:
    """The numbers in LEB128, each in the shortest way."""
    value = shift = 0
    for byte in encoded:
        if byte >= 0x80:
            value |= (byte & 0x7F) << shift
            shift += 7
            refuse_unless(shift <= 63, "a gap is too large")
        else:
            if byte == 0 and shift != 0:
                raise Refused("a gap is not encoded in the shortest way")
            yield value | byte << shift
            value = shift = 0
    refuse_unless(shift == 0, "the last gap is cut off")


def sparse_bits(chunk: Chunk, stored: bytes) -> bytes:
    """The bits of a chunk; nothing at all if its size says that none is set."""
    if len(stored) == 4:
        return b""
    count = 8 * chunk.bytes
    bits = bytearray(chunk.bytes)
    place = -1
    # A gap of n clear bits takes at most n + 1 bytes, hence a chunk at most as many bytes as it has bits.
    encoded = decompress(stored[4:], most=count)
    refuse_unless(encoded != b"", "a chunk without a set bit has a frame")
    for gap in gaps(encoded):
        place += gap + 1
        if place >= count:
            raise Refused("a set bit lies behind its chunk")
        bits[place >> 3] |= 1 << (place & 7)
    return bytes(bits)


def count_set_bits(chunk: Chunk, bits: bytes) -> int:
    number = int.from_bytes(bits, "little")
    is_clear_behind = number >> chunk.used_bits == 0
    refuse_unless(is_clear_behind, f"section {chunk.section} has set bits behind its last bit")
    return number.bit_count()


def verify_payload(header: Header, data: bytes, questions: Questions) -> list[int]:
    """Points 8 to 10 of what a reader does. The number of set bits in each section."""
    chunks = list(cut(header, data))
    trailer = data[check_length(header, data, chunks) :]
    words = struct.unpack(f"<{len(trailer) // 8}Q", trailer)
    refuse_unless(words[-1] == checksum(trailer[:-8]), "the checksum of the trailer is wrong")
    expected_counts = words[: len(header.sections)]
    for chunk, expected in zip(chunks, words[len(header.sections) : -1], strict=True):
        refuse_unless(
            checksum(data[chunk.begin : chunk.end]) == expected,
            f"the checksum of chunk {chunk.number} of section {chunk.section} is wrong",
        )
    counts = [0] * len(header.sections)
    for chunk in chunks:
        stored = data[chunk.begin : chunk.end]
        bits = stored if header.encoding == PLAIN else sparse_bits(chunk, stored)
        counts[chunk.section] += count_set_bits(chunk, bits)
        questions.look_up(chunk.section, chunk.number, bits)
    for number, (count, expected) in enumerate(zip(counts, expected_counts)):
        refuse_unless(count == expected, f"section {number} has {count} set bits instead of {expected}")
    return counts


# ---- The program ---------------------------------------------------------------------------------------


def described_params(header: Header) -> str:
    first, second, third = header.params
    if header.kind in HAS_BITS_AND_HASHES:
        return f"bits {first}, hashes {second}"
    if header.kind == BLOCKED:
        return f"lines {first}, slices {second}"
    if header.kind == SPLIT_BLOCK:
        return f"blocks {first}"
    return f"keys of the first link {first}, rate {rate_of(second)!r}, growth {third}"


def described(header: Header, counts: list[int]) -> Iterator[str]:
    """The fields; of a stored secret only that it is there."""
    yield f"version: {header.version}"
    yield f"kind: {KINDS[header.kind]}"
    yield f"encoding: {ENCODINGS[header.encoding]}"
    yield f"extent: {EXTENTS[header.extent]}"
    yield f"hash algorithm: {HASH_ALGORITHMS[header.hash_algorithm]}"
    yield f"secret: {SECRET_STATES[header.secret_state]}"
    yield f"created: {header.created}"
    yield f"fingerprint: {header.fingerprint:#018x}"
    yield f"params: {described_params(header)}"
    yield f"chunk bytes: {header.chunk_bytes}"
    yield f"sections: {len(header.sections)}"
    yield f"payload bytes: {header.payload_bytes}"
    if header.promised_fpr:
        yield f"promised rate: {header.promised_fpr:g}"
    for number, (section, count) in enumerate(zip(header.sections, counts)):
        link = ""
        if header.kind == REDIS_CHAIN:
            link = f"bits {section.lines}, hashes {section.slices}, inserted {section.inserted}, "
        if header.kind == SCALABLE:
            link = f"lines {section.lines}, slices {section.slices}, inserted {section.inserted}, "
        yield f"section {number}: bytes {section.bytes}, {link}set bits {count}"


def hexdump(data: bytes) -> Iterator[str]:
    for at in range(0, len(data), 16):
        line = data[at : at + 16]
        if any(line):
            yield f"{at:08x}  {line.hex(' ')}"


def read_file(path: pathlib.Path) -> bytes:
    try:
        if path.exists() and not path.is_file():
            raise Unanswerable(f"{path}: not a regular file")
        return path.read_bytes()
    except OSError as error:
        raise Unanswerable(f"{path}: {error.strerror}") from error


def read_keys(path: pathlib.Path) -> list[bytes]:
    lines = read_file(path).split(b"\n")
    return lines[:-1] if lines[-1] == b"" else lines


def parse_integer(line: bytes) -> int:
    """The integer, sign-extended or zero-extended to 64 bits."""
    if re.fullmatch(rb"-?[0-9]{1,20}", line):
        value = int(line)
        if -(2**63) <= value < 2**64:
            return value & M64
    raise Unanswerable(f"not an integer of 64 bits: {line[:40]!r}")


def parse_secret(digits: str) -> bytes:
    if not re.fullmatch(r"[0-9a-fA-F]{32}", digits):
        raise argparse.ArgumentTypeError("a secret has 32 hexadecimal digits")
    return bytes.fromhex(digits)


def choose_secret(header: Header, given: bytes | None) -> bytes | None:
    """The secret of the filter if the file or the user told it; zeros if it has none."""
    if given is None:
        return None if header.secret_state == SECRET_ELSEWHERE else header.secret
    if header.secret_state == NO_SECRET:
        raise Unanswerable("--secret is for keyed filters; this one has none")
    refuse_unless(fingerprint_of(given) == header.fingerprint, "the given secret has another fingerprint")
    return given


def digests_of(header: Header, keys: list[bytes], secret: bytes | None, integers: bool) -> list[int | bytes]:
    if not keys:
        return []
    if secret is None:
        raise Unanswerable("the file does not hold the secret of its filter: --secret is needed")
    of_bytes, of_integer = hasher(header.hash_algorithm, header.fingerprint, secret)
    return [of_integer(parse_integer(key)) if integers else of_bytes(key) for key in keys]


def parse_arguments() -> argparse.Namespace:
    assert __doc__ is not None
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("file", metavar="FILE", type=pathlib.Path)
    parser.add_argument("--keys", metavar="KEYSFILE", type=pathlib.Path)
    parser.add_argument("--integers", action="store_true")
    parser.add_argument("--secret", metavar="HEX", type=parse_secret)
    parser.add_argument("--hexdump", action="store_true")
    arguments = parser.parse_args()
    if arguments.integers and arguments.keys is None:
        parser.error("--integers needs --keys")
    return arguments


def run(arguments: argparse.Namespace) -> bytes:
    """Everything that is to be printed."""
    data = read_file(arguments.file)
    header = read_header(data)
    secret = choose_secret(header, arguments.secret)
    keys = read_keys(arguments.keys) if arguments.keys is not None else []
    questions = Questions(header, digests_of(header, keys, secret, arguments.integers))
    counts = verify_payload(header, data, questions)
    lines = hexdump(data) if arguments.hexdump else described(header, counts)
    output = [line.encode() for line in lines]
    output += [(b"yes " if answer else b"no ") + key for key, answer in zip(keys, questions.answers())]
    return b"".join(line + b"\n" for line in output)


def main() -> int:
    arguments = parse_arguments()
    try:
        output = run(arguments)
    except Refused as why:
        print(f"{arguments.file}: refused: {why}", file=sys.stderr)
        return 1
    except MemoryError:
        print(f"{arguments.file}: refused: not enough memory", file=sys.stderr)
        return 1
    except Unanswerable as why:
        print(f"{pathlib.Path(sys.argv[0]).name}: {why}", file=sys.stderr)
        return 2
    try:
        with open(1, "wb", closefd=False) as stdout:
            stdout.write(output)
    except BrokenPipeError:
        pass  # Whoever reads has seen enough.
    except OSError as error:
        print(f"{pathlib.Path(sys.argv[0]).name}: standard output: {error.strerror}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
