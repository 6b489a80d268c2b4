#include "analyzer/graphs/archive.h"

#include <fmt/format.h>
#include <zip.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "analyzer/graphs/printable.h"

namespace fullgraph::graphs {
namespace {

// The directory is held in memory, at some hundred bytes an entry. Models of 100,000 tensors exist.
constexpr std::uint64_t most_entries = 1'000'000;

struct Discard {
  void operator()(zip_source_t* source) const { zip_source_free(source); }
};
using Source = std::unique_ptr<zip_source_t, Discard>;

struct CloseMember {
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};

// What libzip says. Through an error of its own, since the text is kept in the error and not every owner frees it.
std::string text_of(zip_error_t* error) {
  zip_error_t own;
  zip_error_init(&own);
  zip_error_set(&own, zip_error_code_zip(error), zip_error_code_system(error));
  std::string text = zip_error_strerror(&own);
  zip_error_fini(&own);
  return text;
}

Error unusable(const std::string& shown, ErrorKind kind, std::string message) {
  return {kind, std::move(message), ErrorLocation{shown, 0, 0}};
}

std::uint64_t number_at(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t index = 0; index < size; ++index)
    value |= std::uint64_t{static_cast<unsigned char>(bytes[at + index])} << (8 * index);
  return value;
}

constexpr std::uint64_t end_size = 22;  // of the record that ends an archive

// A part of the source, which has `size` bytes.
std::optional<std::string> part_of(zip_source_t* source, std::uint64_t size, std::uint64_t offset,
                                   std::uint64_t length) {
  if (offset > size || length > size - offset) return std::nullopt;
  if (zip_source_seek(source, static_cast<zip_int64_t>(offset), SEEK_SET) != 0) return std::nullopt;
  std::string bytes(length, '\0');
  for (std::uint64_t have = 0; have < length;) {
    const zip_int64_t got = zip_source_read(source, bytes.data() + have, length - have);
    if (got <= 0) return std::nullopt;
    have += static_cast<std::uint64_t>(got);
  }
  return bytes;
}

// How many entries the end of the archive announces. libzip allocates the directory before it can be asked about it, so
// this is looked up beforehand. 0: not found, which libzip then says better.
std::uint64_t announced_entries(zip_source_t* source, std::uint64_t size) {
  constexpr std::uint64_t locator_size = 20;
  constexpr std::uint64_t longest_comment = 0xFFFF;
  const std::uint64_t tail = std::min(size, end_size + longest_comment + locator_size);
  const auto bytes = part_of(source, size, size - tail, tail);
  if (!bytes) return 0;
  const std::size_t end = bytes->rfind("PK\x05\x06");
  if (end == std::string::npos || end + end_size > bytes->size()) return 0;
  const std::uint64_t entries = number_at(*bytes, end + 10, 2);
  if (end < locator_size || bytes->compare(end - locator_size, 4, "PK\x06\x07") != 0) return entries;
  // zip64: torch writes it always.
  const auto record = part_of(source, size, number_at(*bytes, end - locator_size + 8, 8), 56);
  return record && record->starts_with("PK\x06\x06") ? std::max(entries, number_at(*record, 32, 8)) : entries;
}

Result<zip_t*> open_source(Source source, const std::string& shown) {
  const auto no_archive = [&] {
    return std::unexpected(unusable(shown, ErrorKind::Io, "not a zip archive, or one that is cut"));
  };
  const auto failed = [&](zip_error_t* error) {
    return std::unexpected(unusable(shown, ErrorKind::Io, "the archive cannot be read: " + text_of(error)));
  };
  if (!source) return std::unexpected(unusable(shown, ErrorKind::Io, "cannot be opened"));
  zip_stat_t stat;
  if (zip_source_stat(source.get(), &stat) != 0) return failed(zip_source_error(source.get()));
  if ((stat.valid & ZIP_STAT_SIZE) == 0 || stat.size < end_size) return no_archive();
  if (zip_source_open(source.get()) != 0) return failed(zip_source_error(source.get()));
  const std::uint64_t entries = announced_entries(source.get(), stat.size);
  zip_source_close(source.get());
  if (entries > most_entries)
    return std::unexpected(
        unusable(shown, ErrorKind::TooLarge,
                 fmt::format("the archive announces {} members; {} are read at most", entries, most_entries)));
  zip_error_t error;
  zip_error_init(&error);
  zip_t* archive = zip_open_from_source(source.get(), ZIP_RDONLY, &error);
  if (archive == nullptr) {
    auto result = zip_error_code_zip(&error) == ZIP_ER_NOZIP ? no_archive() : failed(&error);
    zip_error_fini(&error);
    return result;
  }
  (void)source.release();  // the archive owns it now
  return archive;
}

// Absolute, or with a way up: names that are made to be written where they do not belong.
bool leads_out(std::string_view name) {
  if (name.starts_with('/') || name.contains('\\') || (name.size() > 1 && name[1] == ':')) return true;
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t slash = std::min(name.find('/', at), name.size());
    if (name.substr(at, slash - at) == "..") return true;
    at = slash + 1;
  }
  return false;
}

}  // namespace

void Archive::Close::operator()(zip* archive) const {
  zip_discard(archive);
}

Result<Archive> Archive::from(Result<zip*> opened, const std::string& shown) {
  if (!opened) return std::unexpected(opened.error());
  Archive made(std::unique_ptr<zip, Close>(*opened), shown);
  if (auto listed = made.list(); !listed) return std::unexpected(listed.error());
  return made;
}

Result<Archive> Archive::open(const std::string& path, const std::string& shown) {
  return from(open_source(Source(zip_source_file_create(path.c_str(), 0, -1, nullptr)), shown), shown);
}

Result<Archive> Archive::in_memory(std::string_view bytes, const std::string& shown) {
  return from(open_source(Source(zip_source_buffer_create(bytes.data(), bytes.size(), 0, nullptr)), shown), shown);
}

// As torch's own reader does it, the folder of the first member is the top, and what stands outside is not looked at.
Result<void> Archive::list() {
  const auto count = static_cast<std::uint64_t>(zip_get_num_entries(zip_.get(), 0));
  std::vector<std::pair<std::string_view, std::uint64_t>> entries;
  entries.reserve(count);
  for (std::uint64_t index = 0; index < count; ++index) {
    const char* name = zip_get_name(zip_.get(), index, ZIP_FL_ENC_RAW);
    if (name == nullptr)
      return std::unexpected(unusable(shown_, ErrorKind::Io, "the archive's directory cannot be read"));
    if (leads_out(name))
      return std::unexpected(
          unusable(shown_, ErrorKind::Io,
                   fmt::format("the archive has a member `{}`, a name that leads out of it", printable(name))));
    if (!std::string_view(name).ends_with('/')) entries.emplace_back(name, index);
  }
  if (!entries.empty()) {
    const std::string_view first = entries.front().first;
    if (const std::size_t slash = first.find('/'); slash != std::string_view::npos) top_ = first.substr(0, slash);
  }
  const std::size_t prefix = top_.empty() ? 0 : top_.size() + 1;
  if (prefix != 0) std::erase_if(entries, [&](const auto& entry) { return !entry.first.starts_with(top_ + "/"); });
  std::ranges::sort(entries);
  const auto twice = std::ranges::adjacent_find(entries, {}, [](const auto& entry) { return entry.first; });
  if (twice != entries.end())
    return std::unexpected(
        unusable(shown_, ErrorKind::Io, fmt::format("the archive has the member `{}` twice", printable(twice->first))));
  names_.reserve(entries.size());
  indices_.reserve(entries.size());
  for (const auto& [name, index] : entries) {
    names_.emplace_back(name.substr(prefix));
    indices_.push_back(index);
  }
  return {};
}

bool Archive::has(std::string_view member) const {
  return std::ranges::binary_search(names_, member);
}

std::vector<std::string> Archive::names_in(std::string_view folder) const {
  const auto begin = std::ranges::lower_bound(names_, folder);
  const auto end =
      std::find_if_not(begin, names_.end(), [&](const std::string& name) { return name.starts_with(folder); });
  return {begin, end};
}

Error Archive::error(std::string_view member, ErrorKind kind, std::string what) const {
  return unusable(shown_, kind, member.empty() ? what : fmt::format("member `{}`: {}", printable(member), what));
}

Result<std::string> Archive::read(std::string_view member, std::uint64_t limit) const {
  const auto fail = [&](ErrorKind kind, std::string what) {
    return std::unexpected(error(member, kind, std::move(what)));
  };
  const auto found = std::ranges::lower_bound(names_, member);
  if (found == names_.end() || *found != member) return fail(ErrorKind::Io, "the archive does not have it");
  const std::uint64_t index = indices_[static_cast<std::size_t>(found - names_.begin())];

  zip_stat_t stat;
  constexpr zip_uint64_t needed = ZIP_STAT_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
  if (zip_stat_index(zip_.get(), index, 0, &stat) != 0 || (stat.valid & needed) != needed)
    return fail(ErrorKind::Io, "its entry in the directory cannot be read");
  if (stat.encryption_method != ZIP_EM_NONE) return fail(ErrorKind::Io, "it is encrypted");
  if (stat.comp_method != ZIP_CM_STORE && stat.comp_method != ZIP_CM_DEFLATE)
    return fail(ErrorKind::Io,
                fmt::format("it is compressed in a way that torch does not use (method {})", stat.comp_method));
  const auto too_large = [&] { return fail(ErrorKind::TooLarge, fmt::format("it has more than {} bytes", limit)); };
  if (stat.size > limit) return too_large();

  const std::unique_ptr<zip_file_t, CloseMember> file(zip_fopen_index(zip_.get(), index, 0));
  if (!file) return fail(ErrorKind::Io, text_of(zip_get_error(zip_.get())));
  // The size in the directory is a promise only. Reading goes on to the end, where libzip compares the checksum.
  std::string bytes;
  std::string block(std::size_t{1} << 16, '\0');
  for (;;) {
    const zip_int64_t got = zip_fread(file.get(), block.data(), block.size());
    if (got < 0) {
      zip_error_t* const error = zip_file_get_error(file.get());
      if (zip_error_code_zip(error) == ZIP_ER_CRC)
        return fail(ErrorKind::Io, "its checksum is wrong: the file is damaged");
      return fail(ErrorKind::Io, "it cannot be unpacked: " + text_of(error));
    }
    if (got == 0) break;
    if (bytes.size() + static_cast<std::uint64_t>(got) > limit) return too_large();
    bytes.append(block, 0, static_cast<std::size_t>(got));
  }
  if (bytes.size() != stat.size) return fail(ErrorKind::Io, "it is shorter than the archive's directory says");
  return bytes;
}

}  // namespace fullgraph::graphs
