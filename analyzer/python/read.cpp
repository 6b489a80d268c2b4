// Files → checked UTF-8 text. Python reads other encodings when a file declares one; of those, the single-byte ones
// that every interpreter knows are converted, the rest is refused with the place of the first byte that is not UTF-8.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/python/parse.h"

namespace fullgraph::python {
namespace {

constexpr std::size_t most_bytes = std::size_t{64} << 20;
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

Error failure(ErrorKind kind, const std::string& shown, std::string message) {
  return {.kind = kind, .message = std::move(message), .where = ErrorLocation{.file = shown}};
}

Error failure_at(const std::string& shown, std::string_view text, std::size_t offset, std::string message) {
  const std::string_view before = text.substr(0, offset);
  const std::size_t line_start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  ErrorLocation where{.file = shown};
  where.line = static_cast<unsigned>(std::count(before.begin(), before.end(), '\n')) + 1;
  const std::string_view in_line = before.substr(line_start);
  where.column =
      static_cast<unsigned>(std::count_if(in_line.begin(), in_line.end(), [](char c) { return (c & 0xC0) != 0x80; })) +
      1;
  return {.kind = ErrorKind::Encoding, .message = std::move(message), .where = where};
}

// Offset of the first byte that is not part of well-formed UTF-8.
std::optional<std::size_t> first_invalid(std::string_view text) {
  const auto* const bytes = reinterpret_cast<const unsigned char*>(text.data());
  std::size_t at = 0;
  while (at < text.size()) {
    std::uint64_t eight = 0;
    while (at + 8 <= text.size()) {
      std::memcpy(&eight, bytes + at, 8);
      if ((eight & 0x8080808080808080ull) != 0) break;
      at += 8;
    }
    if (at >= text.size()) break;
    const unsigned char lead = bytes[at];
    if (lead < 0x80) {
      ++at;
      continue;
    }
    const std::size_t length = lead >= 0xC2 && lead < 0xE0   ? 2
                               : lead >= 0xE0 && lead < 0xF0 ? 3
                               : lead >= 0xF0 && lead < 0xF5 ? 4
                                                             : 0;
    if (length == 0 || at + length > text.size()) return at;
    for (std::size_t index = 1; index < length; ++index) {
      if ((bytes[at + index] & 0xC0) != 0x80) return at;
    }
    const unsigned char second = bytes[at + 1];
    const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
    const bool surrogate = lead == 0xED && second >= 0xA0;
    const bool too_large = lead == 0xF4 && second >= 0x90;
    if (overlong || surrogate || too_large) return at;
    at += length;
  }
  return std::nullopt;
}

// The coding that one of the first two lines declares (PEP 263), in lower case with "_" as "-"; empty when none does.
std::string declared_coding(std::string_view text) {
  for (int line = 0; line < 2 && !text.empty(); ++line) {
    const std::size_t end = text.find_first_of("\r\n");
    std::string_view current = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size()
                                                     : end + (text.substr(end).starts_with("\r\n") ? 2 : 1));
    const std::size_t start = current.find_first_not_of(" \t\f");
    if (start == std::string_view::npos) continue;
    if (current[start] != '#') break;  // only comments may come before
    std::size_t at = current.find("coding");
    if (at == std::string_view::npos) continue;
    at += 6;
    if (at >= current.size() || (current[at] != ':' && current[at] != '=')) continue;
    at = current.find_first_not_of(" \t", at + 1);
    if (at == std::string_view::npos) continue;
    std::string name;
    for (; at < current.size(); ++at) {
      const char c = current[at];
      const bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
      if (c >= 'A' && c <= 'Z') {
        name += static_cast<char>(c - 'A' + 'a');
      } else if (letter || c == '_') {
        name += c == '_' ? '-' : c;
      } else {
        break;
      }
    }
    return name;
  }
  return {};
}

bool is_latin1(std::string_view coding) {
  constexpr std::array<std::string_view, 10> names = {
      "latin-1", "latin1", "iso-8859-1", "iso8859-1", "8859", "iso-ir-100", "l1", "latin", "cp819", "iso-8859-1-1987"};
  return std::ranges::find(names, coding) != names.end() || coding.starts_with("latin-1-") ||
         coding.starts_with("iso-8859-1-");
}

bool is_windows_1252(std::string_view coding) {
  return coding == "cp1252" || coding == "windows-1252" || coding == "1252";
}

bool is_utf8(std::string_view coding) {
  return coding.empty() || coding == "utf-8" || coding == "utf8" || coding == "u8" || coding == "utf-8-sig" ||
         coding.starts_with("utf-8-");
}

void append_two_or_three_bytes(std::string& result, unsigned point) {
  if (point < 0x800) {
    result += static_cast<char>(0xC0 | point >> 6);
  } else {
    result += static_cast<char>(0xE0 | point >> 12);
    result += static_cast<char>(0x80 | (point >> 6 & 0x3F));
  }
  result += static_cast<char>(0x80 | (point & 0x3F));
}

// What Windows-1252 has at 0x80 to 0x9F; 0: nothing.
constexpr std::array<unsigned, 32> windows_points = {0x20AC, 0,      0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,
                                                     0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0,      0x017D, 0,
                                                     0,      0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
                                                     0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0,      0x017E, 0x0178};

std::string from_single_bytes(std::string_view text, bool windows) {
  std::string result;
  result.reserve(text.size() + text.size() / 8);
  for (const char c : text) {
    unsigned point = static_cast<unsigned char>(c);
    if (point < 0x80) {
      result += c;
      continue;
    }
    if (windows && point < 0xA0) point = windows_points[point - 0x80] != 0 ? windows_points[point - 0x80] : 0xFFFD;
    append_two_or_three_bytes(result, point);
  }
  return result;
}

// The byte for a code point; nothing when the coding lacks it.
std::optional<char> single_byte(unsigned point, bool windows) {
  if (point < 0x80 || (point < 0x100 && !(windows && point < 0xA0))) return static_cast<char>(point);
  if (!windows) return std::nullopt;
  const auto found = std::ranges::find(windows_points, point);
  if (found == windows_points.end()) return std::nullopt;
  return static_cast<char>(0x80 + (found - windows_points.begin()));
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

std::string system_message(int number) {
  return std::generic_category().message(number);
}

Result<std::string> read_bytes(const std::string& path, const std::string& shown) {
  // Not blocking, so that a pipe without a writer cannot hold the run up; what is not a regular file is refused below.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) {
    return std::unexpected(
        failure(ErrorKind::Io, shown, fmt::format("cannot read the file: {}", system_message(errno))));
  }
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) {
    return std::unexpected(
        failure(ErrorKind::Io, shown, fmt::format("cannot read the file: {}", system_message(errno))));
  }
  if (S_ISDIR(status.st_mode)) return std::unexpected(failure(ErrorKind::Io, shown, "is a directory, not a file"));
  if (!S_ISREG(status.st_mode)) return std::unexpected(failure(ErrorKind::Io, shown, "is not a regular file"));
  const auto size = static_cast<std::size_t>(std::max<off_t>(status.st_size, 0));
  if (size > most_bytes) {
    return std::unexpected(
        failure(ErrorKind::TooLarge, shown, fmt::format("is larger than {} MiB ({} bytes)", most_bytes >> 20, size)));
  }
  // One byte more than the file had, to notice when it grows meanwhile.
  std::string text(size + 1, '\0');
  std::size_t filled = 0;
  for (;;) {
    if (filled == text.size()) {
      if (filled > most_bytes) {
        return std::unexpected(
            failure(ErrorKind::TooLarge, shown, fmt::format("is larger than {} MiB", most_bytes >> 20)));
      }
      text.resize(text.size() * 2);
    }
    const ssize_t got = ::read(file.get(), text.data() + filled, text.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return std::unexpected(
          failure(ErrorKind::Io, shown, fmt::format("cannot read the file: {}", system_message(errno))));
    }
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  text.resize(filled);
  return text;
}

}  // namespace

Coding coding_of(std::string_view bytes) {
  if (bytes.starts_with(byte_order_mark)) return Coding::Utf8;
  const std::string coding = declared_coding(bytes);
  return is_latin1(coding) ? Coding::Latin1 : is_windows_1252(coding) ? Coding::Windows1252 : Coding::Utf8;
}

std::optional<std::string> encode(std::string_view text, Coding coding) {
  if (coding == Coding::Utf8) return std::string(text);
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at++]);
    unsigned point = lead < 0x80 ? lead : lead < 0xE0 ? lead & 0x1Fu : lead < 0xF0 ? lead & 0x0Fu : lead & 0x07u;
    for (; at < text.size() && (text[at] & 0xC0) == 0x80; ++at) point = point << 6 | (text[at] & 0x3Fu);
    const auto byte = single_byte(point, coding == Coding::Windows1252);
    if (!byte) return std::nullopt;
    out += *byte;
  }
  return out;
}

Result<std::shared_ptr<const ir::SourceFile>> make_source(std::string text, const std::string& shown) {
  if (text.size() > most_bytes) {
    return std::unexpected(failure(ErrorKind::TooLarge, shown,
                                   fmt::format("is larger than {} MiB ({} bytes)", most_bytes >> 20, text.size())));
  }
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
    return std::unexpected(failure_at(shown, text, 0, "is UTF-16, which Python does not read; save it as UTF-8"));
  }
  if (const std::size_t nul = text.find('\0'); nul != std::string::npos) {
    return std::unexpected(failure_at(shown, text, nul, "contains a NUL byte: not Python source"));
  }
  if (const Coding coding = coding_of(text); coding != Coding::Utf8) {
    text = from_single_bytes(text, coding == Coding::Windows1252);
  } else if (const auto invalid = first_invalid(text)) {
    const std::string declared_name = text.starts_with(byte_order_mark) ? std::string() : declared_coding(text);
    const auto byte = static_cast<unsigned char>(text[*invalid]);
    const std::string declared =
        is_utf8(declared_name) ? std::string() : fmt::format(" (the file declares the coding '{}')", declared_name);
    return std::unexpected(
        failure_at(shown, text, *invalid, fmt::format("byte 0x{:02X} is not valid UTF-8{}", byte, declared)));
  }
  return std::make_shared<const ir::SourceFile>(shown, std::move(text));
}

Result<std::shared_ptr<const ir::SourceFile>> read_source(const std::string& path, const std::string& shown) {
  Result<std::string> text = read_bytes(path, shown);
  if (!text) return std::unexpected(std::move(text.error()));
  return make_source(std::move(*text), shown);
}

}  // namespace fullgraph::python
