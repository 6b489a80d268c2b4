#include <doctest/doctest.h>

#include <string>

#include "analyzer/graphs/archive.h"
#include "tests/unit/archives.h"

using namespace fullgraph;
using namespace fullgraph::graphs;

namespace {

using samples::make_zip;

Error open_error(const std::string& bytes) {
  const auto archive = Archive::in_memory(bytes, "m.pt");
  REQUIRE(!archive);
  CHECK(archive.error().where->file == "m.pt");
  return archive.error();
}

Error read_error(const std::string& bytes, std::string_view member, std::uint64_t limit = largest_member) {
  const auto archive = Archive::in_memory(bytes, "m.pt");
  REQUIRE(archive);
  const auto read = archive->read(member, limit);
  REQUIRE(!read);
  return read.error();
}

}  // namespace

TEST_CASE("archive: members are named without the folder they stand in") {
  const std::string bytes =
      make_zip({{"m/data.pkl", "tree"}, {"m/code/a.py", std::string(5000, 'x')}, {"m/version", "3\n"}});
  const auto archive = Archive::in_memory(bytes, "m.pt");
  REQUIRE(archive);
  CHECK(archive->top() == "m");
  CHECK(archive->names() == std::vector<std::string>{"code/a.py", "data.pkl", "version"});
  CHECK(archive->has("version"));
  CHECK(!archive->has("m/version"));
  CHECK(archive->names_in("code/") == std::vector<std::string>{"code/a.py"});
  CHECK(archive->read("data.pkl") == "tree");
  CHECK(archive->read("code/a.py") == std::string(5000, 'x'));
}

TEST_CASE("archive: older layouts have no folder; what stands outside of it is not there, as for torch") {
  const std::string old = make_zip({{"serialized_exported_program.json", "{}"}, {"extra_files/note", "hi"}});
  const auto old_archive = Archive::in_memory(old, "m.pt2");
  REQUIRE(old_archive);
  CHECK(old_archive->top().empty());
  CHECK(old_archive->read("extra_files/note") == "hi");
  const std::string more = make_zip({{"m/version", "3"}, {"mm/version", "4"}, {"note", "5"}});
  const auto archive = Archive::in_memory(more, "m.pt");
  REQUIRE(archive);
  CHECK(archive->names() == std::vector<std::string>{"version"});
  const std::string empty = make_zip({});
  CHECK(Archive::in_memory(empty, "m.pt")->names().empty());
}

TEST_CASE("archive: names that lead out of it, and names that are there twice") {
  for (const char* name : {"m/../../etc/passwd", "/etc/passwd", "m\\x", "..", "C:x"}) {
    CAPTURE(name);
    CHECK(open_error(make_zip({{"m/a", ""}, {name, "x"}})).message.contains("leads out of it"));
  }
  CHECK(Archive::in_memory(make_zip({{"m/..a", ""}, {"m/b../c", ""}}), "m.pt"));
  CHECK(open_error(make_zip({{"m/a", "1"}, {"m/b", "2"}, {"m/a", "3"}})).message ==
        "the archive has the member `m/a` twice");
}

TEST_CASE("archive: no more is unpacked than the reader wants, whatever the directory says") {
  const std::string bytes = make_zip({{"m/a", std::string(100'000, 'x')}});
  CHECK(read_error(bytes, "a", 99'999).kind == ErrorKind::TooLarge);
  CHECK(Archive::in_memory(bytes, "m.pt")->read("a", 100'000)->size() == 100'000);
  // The same member, promised to be small.
  std::string lie = bytes;
  samples::overwrite_sizes(lie, 10);
  CHECK(!Archive::in_memory(lie, "m.pt")->read("a", 1000));
  CHECK(!Archive::in_memory(lie, "m.pt")->read("a"));
}

TEST_CASE("archive: a wrong checksum, a member that is not there") {
  std::string bytes = make_zip({{"m/a", "stored text"}}, samples::Compression::None);
  bytes[bytes.find("stored")] ^= 1;
  CHECK(read_error(bytes, "a").message == "member `a`: its checksum is wrong: the file is damaged");
  CHECK(read_error(bytes, "m/a").message == "member `m/a`: the archive does not have it");
}

TEST_CASE("archive: cut anywhere, it is refused") {
  const std::string bytes = make_zip({{"m/a", std::string(300, 'x')}, {"m/b", "two"}}, samples::Compression::None);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CAPTURE(size);
    CHECK(open_error(bytes.substr(0, size)).kind == ErrorKind::Io);
  }
  CHECK(open_error("").message == "not a zip archive, or one that is cut");
  CHECK(Archive::open("/nowhere/m.pt", "m.pt").error().message.contains("No such file"));
}

TEST_CASE("archive: an end that announces more members than are read is refused before the directory is") {
  std::string bytes = make_zip({{"m/a", "x"}});
  // The end of a zip64 archive: record, locator, the old end. Only the number of entries matters here.
  const std::size_t end = bytes.rfind("PK\x05\x06");
  std::string record = "PK\x06\x06" + std::string(52, '\0');
  record[32] = record[35] = '\x7F';
  const std::size_t at = end;
  std::string locator = "PK\x06\x07" + std::string(16, '\0');
  locator[8] = static_cast<char>(at);
  bytes.insert(end, record + locator);
  CHECK(open_error(bytes).kind == ErrorKind::TooLarge);
}
