// The process-wide table of interned texts.
//
// Writers go through one of several shards, each with its own lock, map and text storage; readers of `Symbol::text`
// take no lock at all: a symbol's view sits in a chunk that never moves. A small direct-mapped cache for each thread
// answers nearly all look-ups while files are lowered, since source code repeats the same few hundred names.
#include "analyzer/ir/symbol.h"

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace fullgraph::ir {
namespace {

constexpr std::size_t chunk_bits = 14;
constexpr std::size_t chunk_size = std::size_t{1} << chunk_bits;
constexpr std::size_t chunk_count = std::size_t{1} << 16;
constexpr std::size_t shard_count = 64;

// Texts in large blocks: one allocation for each of millions of names would cost more than the names.
class TextStorage {
 public:
  std::string_view copy(std::string_view text) {
    if (text.size() > left_) {
      if (text.size() > block_size / 4) {
        blocks_.push_back(std::make_unique_for_overwrite<char[]>(text.size()));
        std::memcpy(blocks_.back().get(), text.data(), text.size());
        return {blocks_.back().get(), text.size()};
      }
      blocks_.push_back(std::make_unique_for_overwrite<char[]>(block_size));
      next_ = blocks_.back().get();
      left_ = block_size;
    }
    char* const place = next_;
    std::memcpy(place, text.data(), text.size());
    next_ += text.size();
    left_ -= text.size();
    return {place, text.size()};
  }

 private:
  static constexpr std::size_t block_size = 16 * 1024;
  std::vector<std::unique_ptr<char[]>> blocks_;
  char* next_ = nullptr;
  std::size_t left_ = 0;
};

struct Shard {
  std::mutex mutex;
  std::unordered_map<std::string_view, std::uint32_t> ids;
  TextStorage texts;
};

class Table {
 public:
  std::uint32_t intern(std::string_view text, std::size_t hash) {
    Shard& shard = shards_[(hash >> 57) % shard_count];
    const std::lock_guard lock(shard.mutex);
    if (const auto found = shard.ids.find(text); found != shard.ids.end()) return found->second;
    const std::string_view stored = shard.texts.copy(text);
    const std::uint32_t id = next_.fetch_add(1, std::memory_order_relaxed);
    chunk(id >> chunk_bits)[id & (chunk_size - 1)] = stored;
    shard.ids.emplace(stored, id);
    return id;
  }

  void lock() {
    for (Shard& shard : shards_) shard.mutex.lock();
  }
  void unlock() {
    for (Shard& shard : shards_) shard.mutex.unlock();
  }

  std::string_view text(std::uint32_t id) const {
    return chunks_[id >> chunk_bits].load(std::memory_order_acquire)[id & (chunk_size - 1)];
  }

 private:
  std::string_view* chunk(std::size_t index) {
    std::string_view* present = chunks_[index].load(std::memory_order_acquire);
    if (present != nullptr) return present;
    auto fresh = std::make_unique<std::string_view[]>(chunk_size);
    if (chunks_[index].compare_exchange_strong(present, fresh.get(), std::memory_order_acq_rel)) return fresh.release();
    return present;
  }

  std::array<Shard, shard_count> shards_;
  std::array<std::atomic<std::string_view*>, chunk_count> chunks_{};
  std::atomic<std::uint32_t> next_{1};
};

// Never destroyed: symbols are valid until the process ends, also in destructors of static objects. A copy of the
// process (fork) must not find it locked by a thread that it does not have.
Table& table() {
  static Table* const instance = [] {
    auto* made = new Table;
    pthread_atfork([] { table().lock(); }, [] { table().unlock(); }, [] { table().unlock(); });
    return made;
  }();
  return *instance;
}

struct CacheEntry {
  const char* data = nullptr;
  std::uint32_t size = 0;
  std::uint32_t id = 0;
};
constexpr std::size_t cache_size = std::size_t{1} << 13;
constexpr std::size_t longest_cached = 128;

}  // namespace

Symbol Symbol::intern(std::string_view text) {
  if (text.empty()) return {};
  const std::size_t hash = std::hash<std::string_view>{}(text);
  if (text.size() > longest_cached) return {table().intern(text, hash)};
  thread_local std::array<CacheEntry, cache_size> cache;
  CacheEntry& entry = cache[hash & (cache_size - 1)];
  if (entry.size == text.size() && std::memcmp(entry.data, text.data(), text.size()) == 0) return {entry.id};
  const std::uint32_t id = table().intern(text, hash);
  const std::string_view stored = table().text(id);
  entry = {stored.data(), static_cast<std::uint32_t>(stored.size()), id};
  return {id};
}

std::string_view Symbol::text() const {
  return id == 0 ? std::string_view{} : table().text(id);
}

}  // namespace fullgraph::ir
