// Zip archives made in memory, for tests of what reads them.
#pragma once

#include <zip.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace samples {

enum class Compression { None, Deflate };

// Written by hand and stored or deflated through libzip's own packer, so that names may be what no good writer would
// write: twice the same, absolute, with a way up.
inline std::string make_zip(const std::vector<std::pair<std::string, std::string>>& members,
                            Compression compression = Compression::Deflate) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* sink = zip_source_buffer_create(nullptr, 0, 0, &error);
  zip_source_keep(sink);
  zip_t* archive = zip_open_from_source(sink, ZIP_TRUNCATE, &error);
  std::size_t number = 0;
  std::vector<std::string> stand_ins;  // of the same length; libzip refuses a name that is taken
  for (const auto& [name, content] : members) {
    std::string stand_in(name.size(), '#');
    for (std::size_t at = 0, rest = number++; at < stand_in.size(); ++at, rest /= 10)
      stand_in[at] = static_cast<char>('0' + rest % 10);
    zip_source_t* source = zip_source_buffer(archive, content.data(), content.size(), 0);
    const auto index = zip_file_add(archive, stand_in.c_str(), source, 0);
    zip_set_file_compression(archive, static_cast<zip_uint64_t>(index),
                             compression == Compression::None ? ZIP_CM_STORE : ZIP_CM_DEFLATE, 9);
    stand_ins.push_back(std::move(stand_in));
  }
  if (members.empty()) {
    zip_discard(archive);
    zip_source_free(sink);
    return std::string("PK\x05\x06") + std::string(18, '\0');
  }
  zip_close(archive);
  zip_source_open(sink);
  zip_stat_t stat;
  zip_source_stat(sink, &stat);
  std::string bytes(stat.size, '\0');
  zip_source_read(sink, bytes.data(), bytes.size());
  zip_source_close(sink);
  zip_source_free(sink);
  // The true names, in the local header and in the directory.
  for (std::size_t index = 0; index < members.size(); ++index) {
    const std::string& name = members[index].first;
    for (const auto& [magic, header] : {std::pair{"PK\x03\x04", 30}, std::pair{"PK\x01\x02", 46}}) {
      std::size_t at = 0;
      for (std::size_t nth = 0; nth <= index; ++nth) at = bytes.find(magic, nth == 0 ? 0 : at + 4);
      bytes.replace(at + static_cast<std::size_t>(header), name.size(), name);
    }
  }
  return bytes;
}

// The unpacked size that the headers of the first member promise.
inline void overwrite_sizes(std::string& bytes, std::uint32_t size) {
  std::memcpy(bytes.data() + bytes.find("PK\x03\x04") + 22, &size, 4);
  std::memcpy(bytes.data() + bytes.find("PK\x01\x02") + 24, &size, 4);
}

}  // namespace samples
