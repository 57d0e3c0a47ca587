"""DuckDB: the filters of the Parquet files that it writes, and ours in their place."""

import json
import os
import pathlib
import random
import shutil
import struct
import subprocess

import exchange

ARGUMENTS = exchange.arguments()
NODE = exchange.need_program("node", "nodejs")
NPM = exchange.need_program("npm", "npm")
# So that the names of files need no quotes, wherever this is.
os.chdir(ARGUMENTS.work)

# Distinct values in each row group; DuckDB writes filters for columns whose values repeat.
GROUPS = (512, 64, 1)
ROWS = 2048
ABSENT = 300


def install():
    """DuckDB from npm, of the version in package.json, unless that is what is there."""
    manifest = exchange.HERE / "duckdb/package.json"
    stamp = pathlib.Path("node_modules/installed.json")
    shutil.copy(exchange.HERE / "duckdb/duckdb.mjs", ".")
    if stamp.exists() and stamp.read_bytes() == manifest.read_bytes():
        return
    shutil.copy(manifest, ".")
    # Without a lock file: npm refuses one that does not name the binaries of every platform.
    options = ["--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts"]
    exchange.build(
        [NPM, "install", *options],
        complaint="This test downloads DuckDB from npm, which did not work",
    )
    shutil.copy(manifest, stamp)


install()


class DuckDb:
    def __init__(self):
        self.process = subprocess.Popen(
            [NODE, "duckdb.mjs"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, *statements):
        print(json.dumps(statements), file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        if not answer:
            raise AssertionError("DuckDB refused; the reason is above.")
        return json.loads(answer)


class Column:
    """A name, its SQL type, and how a value is spelled: in SQL, and as the bytes that Parquet hashes."""

    def __init__(self, name, sql_type, value, literal, encode):
        self.name, self.sql_type = name, sql_type
        self.value, self.literal, self.encode = value, literal, encode


def blob(value):
    return "'" + "".join(f"\\x{byte:02x}" for byte in value) + "'::BLOB"


def number_column(name, sql_type, encoding, value):
    return Column(
        name,
        sql_type,
        value,
        lambda number: f"({number!r})::{sql_type}",
        lambda number: struct.pack(encoding, number),
    )


# Each makes the value of an index; different indexes have different values.
COLUMNS = [
    Column(
        "text",
        "VARCHAR",
        lambda i: f"Schlüssel\0{i} 🔑".encode() if i else b"",
        lambda value: f"decode({blob(value)})",
        lambda value: value,
    ),
    Column(
        "bytes",
        "BLOB",
        lambda i: random.Random(i).randbytes(i % 40) + struct.pack("<I", i) if i else b"",
        blob,
        lambda value: value,
    ),
    number_column("int16", "SMALLINT", "<i", lambda i: i - 500),
    number_column("int32", "INTEGER", "<i", lambda i: (i - 500) * 0x10001),
    number_column("uint32", "UINTEGER", "<I", lambda i: i * 0x200003 % 2**32),
    number_column("int64", "BIGINT", "<q", lambda i: (i - 500) * 0x100000001),
    number_column("float32", "FLOAT", "<f", lambda i: (i - 500) / 8 + 0.0625),
    number_column("float64", "DOUBLE", "<d", lambda i: (i - 500) / 7),
]
# DuckDB 1.5 fills a filter with the bytes of a BLOB, as Parquet wants it, but looks up its escaped text, and so
# misses what is there. Such filters are read and rebuilt, but not asked.
ASKED_COLUMNS = [column for column in COLUMNS if column.sql_type != "BLOB"]


class DuckDbTest(exchange.ExchangeTest):
    @classmethod
    def setUpClass(cls):
        cls.duckdb = DuckDb()
        cls.addClassCleanup(cls.duckdb.process.communicate)
        cls.ours = exchange.Program(ARGUMENTS.driver, "parquet")
        rows, first = [], 0
        cls.indexes = []
        for group, count in enumerate(GROUPS):
            cls.indexes.append(range(first, first + count))
            first += count
            for i in cls.indexes[-1]:
                values = [column.literal(column.value(i)) for column in COLUMNS]
                rows.append(f"({group}, {', '.join(values)})")
        cls.indexes.append(range(first, first + ABSENT))
        names = ", ".join(column.name for column in COLUMNS)
        cls.duckdb.run(
            "SET threads = 1",
            "SET parquet_metadata_cache = true",
            f"CREATE TABLE keys AS SELECT * FROM (VALUES {', '.join(rows)}) AS t(part, {names})",
        )
        cls.names = names

    def write_file(self, path, fpr):
        """A row group for each of GROUPS; one column is inside of another. Returns the content."""
        repeated = f"""
            SELECT {self.names}, {{'name': text}} AS nested
            FROM keys, range({ROWS}) AS r(i)
            WHERE i < {ROWS} // (SELECT count(*) FROM keys AS k WHERE k.part = keys.part)
            ORDER BY part"""
        self.duckdb.run(
            f"""COPY ({repeated}) TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE {ROWS},
            DICTIONARY_SIZE_LIMIT {ROWS}, BLOOM_FILTER_FALSE_POSITIVE_RATIO {fpr})"""
        )
        return bytearray(pathlib.Path(path).read_bytes())

    def filters(self, path):
        """Where DuckDB says that the filters are: (column, row group) -> (offset, bytes)."""
        (rows,) = self.duckdb.run(
            f"""SELECT path_in_schema, row_group_id, bloom_filter_offset, bloom_filter_length
            FROM parquet_metadata('{path}') WHERE bloom_filter_offset IS NOT NULL"""
        )
        return {
            (column.replace(", ", "."), int(group)): (int(offset), int(size))
            for column, group, offset, size in rows
        }

    def values(self, column):
        return [column.value(i) for part in self.indexes for i in part]

    def our_answers(self, column):
        return self.ours.ask([column.encode(value) for value in self.values(column)])

    def expect_their_answers(self, ours, path, column):
        """Ours are those of a filter for each row group; DuckDB looks into the file."""
        values = self.values(column)
        probes = [
            f"""SELECT {i} AS i, row_group_id, NOT bloom_filter_excludes
            FROM parquet_bloom_probe('{path}', '{column.name}', {column.literal(value)})"""
            for i, value in enumerate(values)
        ]
        # Twenty in a statement take half of the time that twenty statements do.
        statements = (
            f"{' UNION ALL '.join(probes[i : i + 20])} ORDER BY ALL" for i in range(0, len(probes), 20)
        )
        theirs = ["01"[found] for rows in self.duckdb.run(*statements) for _, _, found in rows]
        for group, answers in enumerate(ours):
            self.expect_equal_answers(answers, theirs[group :: len(ours)], values)

    def test_filters_are_where_duckdb_says(self):
        self.write_file("list.parquet", 0.01)
        filters = self.filters("list.parquet")
        self.assertEqual(len(filters), (len(COLUMNS) + 1) * len(GROUPS))
        listed = [":".join(map(str, (*where, *place))) for where, place in filters.items()]
        self.assertEqual(sorted(self.ours.run("list", "list.parquet").split()), sorted(listed))

    def test_filters_of_duckdb(self):
        for fpr in (0.3, 0.001):
            path = f"theirs_{fpr}.parquet"
            content = self.write_file(path, fpr)
            places = self.filters(path)
            for column in COLUMNS:
                answers = []
                for group, part in enumerate(self.indexes[:-1]):
                    offset, size = places[column.name, group]
                    filter_bytes = content[offset : offset + size]
                    keys = [column.encode(column.value(i)) for i in part]
                    # Out of the file, by its bytes, and from nothing but the keys.
                    blocks = self.ours.run("open", path, column.name, group)
                    self.expect_equal_files(self.ours.write(), filter_bytes)
                    self.ours.read(filter_bytes)
                    self.expect_equal_files(self.ours.write(), filter_bytes)
                    self.expect_all_found(self.ours, keys)
                    answers.append(self.our_answers(column))
                    self.ours.create(blocks)
                    self.ours.add(keys)
                    self.expect_equal_files(self.ours.write(), filter_bytes)
                if column in ASKED_COLUMNS:
                    self.expect_their_answers(answers, path, column)

    def test_filters_of_ours(self):
        content = self.write_file("before.parquet", 0.01)
        places = self.filters("before.parquet")
        answers = {column: [] for column in ASKED_COLUMNS}
        for column in ASKED_COLUMNS:
            for group in range(len(GROUPS)):
                offset, size = places[column.name, group]
                self.ours.create(self.ours.run("open", "before.parquet", column.name, group))
                # Half of the keys that are not in the file, and none that are.
                self.ours.add(column.encode(column.value(i)) for i in self.indexes[-1][::2])
                answers[column].append(self.our_answers(column))
                file = self.ours.write()
                self.assertEqual(len(file), size)
                content[offset : offset + size] = file
        pathlib.Path("after.parquet").write_bytes(content)
        for column in ASKED_COLUMNS:
            self.expect_their_answers(answers[column], "after.parquet", column)

    def test_duckdb_skips_row_groups_by_our_filters(self):
        content = self.write_file("full.parquet", 0.0001)
        for (name, group), (offset, size) in self.filters("full.parquet").items():
            self.ours.create(self.ours.run("open", "full.parquet", name, group))
            content[offset : offset + size] = self.ours.write()
        pathlib.Path("emptied.parquet").write_bytes(content)
        for column in ASKED_COLUMNS:
            count = (
                f"SELECT count(*)::INTEGER FROM '{path}' "
                f"WHERE {column.name} = {column.literal(column.value(7))}"
                for path in ("full.parquet", "emptied.parquet")
            )
            self.assertEqual(self.duckdb.run(*count), [[[ROWS // GROUPS[0]]], [[0]]], column.name)


if __name__ == "__main__":
    exchange.main()
