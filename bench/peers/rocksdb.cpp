// RocksDB's Bloom filter. Its own interface is private since version 7, so this is the whole way
// through a database that holds all keys in one table: KeyMayExist asks the filter and, when the
// filter says "probably", searches the index of the table. It reads no data block, because there is
// no cache that could hold one: the rate is the filter's alone.
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/slice.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/status.h>
#include <rocksdb/table.h>
#include <rocksdb/table_properties.h>
#include <rocksdb/version.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "contender.hpp"

namespace {

void check(const rocksdb::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(1);
}

class RocksDb {
 public:
  static std::string name() { return "RocksDB KeyMayExist"; }
  static std::string version() { return rocksdb::GetRocksVersionAsString(); }

  explicit RocksDb(std::uint64_t /*keys*/) {
    rocksdb::BlockBasedTableOptions table;
    // What its documentation recommends for 1 %.
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(9.9));
    table.no_block_cache = true;
    options_.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    // The files live in memory and vanish with it, however this program ends.
    options_.env = env_.get();
    options_.create_if_missing = true;
    rocksdb::DB* database = nullptr;
    check(rocksdb::DB::Open(options_, "/database", &database));
    database_.reset(database);
  }

  void build(std::span<const std::uint64_t> keys) {
    std::vector<std::uint64_t> sorted(keys.begin(), keys.end());
    std::sort(sorted.begin(), sorted.end());
    rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options_);
    check(writer.Open(kTable));
    for (const std::uint64_t key : sorted) check(writer.Put(Key(key), rocksdb::Slice()));
    check(writer.Finish());
    check(database_->IngestExternalFile({kTable}, rocksdb::IngestExternalFileOptions()));
  }
  [[nodiscard]] bool contains(std::uint64_t key) const {
    return database_->KeyMayExist(read_options_, Key(key), &value_);
  }
  // The filter's, without the table that it belongs to.
  [[nodiscard]] double size_bytes() const {
    rocksdb::TablePropertiesCollection tables;
    check(database_->GetPropertiesOfAllTables(&tables));
    std::uint64_t sum = 0;
    for (const auto& [file, properties] : tables) sum += properties->filter_size;
    return static_cast<double>(sum);
  }

 private:
  static constexpr const char* kTable = "/table.sst";

  // The bytes of a number, in an order that sorts like the number.
  class Key {
   public:
    explicit Key(std::uint64_t key)
        : bytes_(std::endian::native == std::endian::little ? __builtin_bswap64(key) : key) {}
    operator rocksdb::Slice() const {
      return {reinterpret_cast<const char*>(&bytes_), sizeof(bytes_)};
    }

   private:
    std::uint64_t bytes_;
  };

  std::unique_ptr<rocksdb::Env> env_{rocksdb::NewMemEnv(rocksdb::Env::Default())};
  rocksdb::Options options_;
  rocksdb::ReadOptions read_options_;
  std::unique_ptr<rocksdb::DB> database_;
  mutable std::string value_;  // KeyMayExist wants a place for it.
};

}  // namespace

int main(int argc, char** argv) { return bench::run_contenders<RocksDb>(argc, argv); }
