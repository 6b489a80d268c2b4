// Files and texts that are not as they should be.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/python/parse.h"

using namespace fullgraph;
namespace fs = std::filesystem;

namespace {

struct Folder {
  fs::path path = fs::temp_directory_path() / ("fullgraph-read-" + std::to_string(::getpid()));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(path / name, std::ios::binary) << text;
    return (path / name).string();
  }
};

Error error_of(const std::string& text) {
  const auto source = python::make_source(text, "t.py");
  REQUIRE_FALSE(source.has_value());
  return source.error();
}

}  // namespace

TEST_CASE("bytes that are not UTF-8 are located") {
  const Error error = error_of("x = 1\ny = '\xC3\xA9\xE9'\n");
  CHECK(error.kind == ErrorKind::Encoding);
  CHECK(error.where->line == 2);
  CHECK(error.where->column == 7);
  CHECK(error.message == "byte 0xE9 is not valid UTF-8");
  CHECK(error_of("\xC0\x80").kind == ErrorKind::Encoding);          // overlong
  CHECK(error_of("\xED\xA0\x80").kind == ErrorKind::Encoding);      // a surrogate
  CHECK(error_of("\xF4\x90\x80\x80").kind == ErrorKind::Encoding);  // above U+10FFFF
  CHECK(error_of("12345678\xC3").where->column == 9);               // cut off
  CHECK(python::make_source("\xF4\x8F\xBF\xBF \xED\x9F\xBF \xE0\xA0\x80", "t.py").has_value());
}

TEST_CASE("NUL bytes and UTF-16 are refused") {
  CHECK(error_of(std::string("a\nb\0", 4)).where->line == 2);
  CHECK(error_of(std::string("\xFF\xFE"
                             "a\0",
                             4))
            .message.find("UTF-16") != std::string::npos);
}

TEST_CASE("declared codings (PEP 263)") {
  const auto latin = python::make_source("# -*- coding: latin-1 -*-\nx = '\xE9'\n", "t.py");
  REQUIRE(latin.has_value());
  CHECK((*latin)->line_text(2) == "x = '\xC3\xA9'");
  const auto second_line =
      python::make_source("#!/usr/bin/env python\n# vim: set fileencoding=ISO_8859_1 :\n'\xE9'\n", "t.py");
  REQUIRE(second_line.has_value());
  const auto windows = python::make_source("# coding=cp1252\n'\x80'\n", "t.py");
  REQUIRE(windows.has_value());
  CHECK((*windows)->line_text(2) == "'\xE2\x82\xAC'");
  CHECK(error_of("# coding: koi8-r\n'\xE9'\n").message.find("koi8-r") != std::string::npos);
  CHECK(error_of("x = 1\n# coding: latin-1\n'\xE9'\n").kind == ErrorKind::Encoding);  // not behind code
  CHECK(python::make_source("# coding: koi8-r\n'only ascii'\n", "t.py").has_value());
}

TEST_CASE("files that cannot be read") {
  const Folder folder;
  const auto error = [](const std::string& path) {
    const auto source = python::read_source(path, "shown.py");
    REQUIRE_FALSE(source.has_value());
    CHECK(source.error().where->file == "shown.py");
    return source.error();
  };
  CHECK(error((folder.path / "none.py").string()).message.find("No such file") != std::string::npos);
  CHECK(error(folder.path.string()).message == "is a directory, not a file");
  const std::string pipe = (folder.path / "pipe.py").string();
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(error(pipe).message == "is not a regular file");
  const std::string large = folder.file("large.py", "");
  fs::resize_file(large, (std::uintmax_t{64} << 20) + 1);
  CHECK(error(large).kind == ErrorKind::TooLarge);
  if (::geteuid() != 0) {
    const std::string secret = folder.file("secret.py", "x");
    fs::permissions(secret, fs::perms::none);
    CHECK(error(secret).message.find("Permission denied") != std::string::npos);
  }
}

TEST_CASE("a file's text is kept as it is") {
  const Folder folder;
  const std::string text = "\xEF\xBB\xBFx = 1\r\ny\n";
  const auto source = python::read_source(folder.file("a.py", text), "a.py");
  REQUIRE(source.has_value());
  CHECK((*source)->text() == text);
  CHECK((*source)->path() == "a.py");
}
