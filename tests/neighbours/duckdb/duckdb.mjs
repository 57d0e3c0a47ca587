// DuckDB, driven by lines. Each line of the input is a JSON list of SQL statements; the answer is a JSON list
// with the rows of each.
import { createInterface } from "node:readline";

import { DuckDBInstance } from "@duckdb/node-api";

const instance = await DuckDBInstance.create(":memory:");
const connection = await instance.connect();
for await (const line of createInterface({ input: process.stdin })) {
  const results = [];
  for (const statement of JSON.parse(line)) {
    results.push((await connection.runAndReadAll(statement)).getRowsJson());
  }
  console.log(JSON.stringify(results));
}
