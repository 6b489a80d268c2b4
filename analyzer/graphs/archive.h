// The zip archives that torch writes, opened for reading only.
//
// Whoever hands over an archive may mean harm: it may be cut, lie about its sizes, unpack to more than the memory holds
// or name members that lead out of it. Nothing is ever written to the disk, only what is asked for is unpacked, and a
// member is given up as soon as it has yielded more than its reader wants, whatever the archive promises of it. Opening
// costs what the directory at the end of the file costs, not what the weights weigh.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/ir/error.h"

struct zip;

namespace fullgraph::graphs {

// More than any text, pickle or graph of a model that can still be looked at.
constexpr std::uint64_t largest_member = std::uint64_t{256} << 20;

class Archive {
 public:
  // `shown` is the path as errors shall name it.
  static Result<Archive> open(const std::string& path, const std::string& shown);
  // `bytes` must outlive the archive.
  static Result<Archive> in_memory(std::string_view bytes, const std::string& shown);

  // The folder that all members stand in, named after the file that was first saved; empty in older layouts.
  [[nodiscard]] const std::string& top() const { return top_; }
  // The members, in the order of their bytes; neither they nor anything below name the top folder. Folders have none.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] bool has(std::string_view member) const;
  // Those in a folder ("code/"), as a part of names().
  [[nodiscard]] std::vector<std::string> names_in(std::string_view folder) const;

  // Errors: no such member, encrypted, compressed in a way that torch does not use, cut, a wrong checksum, more than
  // `limit` bytes.
  [[nodiscard]] Result<std::string> read(std::string_view member, std::uint64_t limit = largest_member) const;

  // An error about a member of this archive, for readers that find something wrong with what it holds.
  [[nodiscard]] Error error(std::string_view member, ErrorKind kind, std::string what) const;

 private:
  struct Close {
    void operator()(zip* archive) const;
  };
  Archive(std::unique_ptr<zip, Close> zip, std::string shown) : zip_(std::move(zip)), shown_(std::move(shown)) {}
  static Result<Archive> from(Result<zip*> opened, const std::string& shown);
  Result<void> list();

  std::unique_ptr<zip, Close> zip_;
  std::string shown_;
  std::string top_;
  std::vector<std::string> names_;
  std::vector<std::uint64_t> indices_;  // of names_, in the archive
};

}  // namespace fullgraph::graphs
