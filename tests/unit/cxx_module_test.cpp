#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "page/foreign_text.h"
#include "temporary_folder.h"
#include "validator/compile_flags.h"
#include "validator/cxx_module.h"

namespace {

using namespace fullgraph::validator;
using fullgraph::page::escaped;

std::string names(std::string_view source) {
  std::string out;
  for (const ModuleClass& one : module_classes(source)) out += one.name + (one.used ? "(part) " : " ");
  return out;
}

TEST_CASE("modules of a C++ source: what derives from Module, by the name that makes one") {
  CHECK(names("struct A : torch::nn::Module { int x; };") == "A ");
  CHECK(names("class A final : public nn::Module {};") == "A ");
  CHECK(names("struct AImpl : torch::nn::Cloneable<AImpl> {}; TORCH_MODULE(A);") == "A ");
  CHECK(names("struct AImpl : torch::nn::Module {};") == "AImpl ");
  CHECK(names("struct A { }; struct B : A {}; class C;").empty());
  CHECK(
      names(
          "// struct A : torch::nn::Module {};\n/* class B : Module {}; */ const char* s = \"struct C : Module {};\";")
          .empty());
}

TEST_CASE("modules of a C++ source: what another one holds is a part") {
  CHECK(names("struct A : Module {}; struct B : Module { std::shared_ptr<A> a; };") == "A(part) B ");
  CHECK(names("struct AImpl : Module {}; TORCH_MODULE(A); struct B : Module { A a{nullptr}; };") == "A(part) B ");
  CHECK(names("struct A : Module {}; struct B : Module { int Around; };") == "A B ");
}

TEST_CASE("commands are split as a shell splits them") {
  using List = std::vector<std::string>;
  CHECK(split_command("c++  -DA=1 -c a.cpp") == List{"c++", "-DA=1", "-c", "a.cpp"});
  CHECK(split_command(R"(c++ '-DA="x y"' "-I/a b" -DB=\"c\" '')") ==
        List{"c++", "-DA=\"x y\"", "-I/a b", "-DB=\"c\"", ""});
  CHECK(split_command("").empty());
}

TEST_CASE("flags of a source come from the nearest database, without another libtorch") {
  const ::TemporaryFolder folder;
  folder.write("torch/ATen/ATen.h", "");
  folder.write("src/a.cpp", "");
  folder.write(
      "build/compile_commands.json",
      R"([{"directory": ")" + folder.path() +
          R"(", "file": "src/a.cpp", "command": "g++-9 -DA -Iown -isystem torch -Wall -O3 -std=c++17 -MD -o a.o -c src/a.cpp"}])");
  const CompileFlags flags = compile_flags_of(folder.path() + "/src/a.cpp");
  CHECK(flags.compiler == "g++-9");
  CHECK(flags.directory == folder.path());
  CHECK(flags.flags == std::vector<std::string>{"-D", "A", "-I", "own", "-O3", "-std=c++17"});
  CHECK(compile_flags_of(folder.path() + "/src/b.cpp").flags.empty());
}

TEST_CASE("text in a page is never markup, and hides nothing") {
  CHECK(escaped("<a href=\"x\">'&") == "&lt;a href=&quot;x&quot;&gt;&#39;&amp;");
  CHECK(escaped("é→\n\t") == "é→\n\t");
  CHECK(escaped(std::string_view("\0\x1b\x7f", 3)) == "[U+0000][U+001B][U+007F]");
  CHECK(escaped("\xE2\x80\xAE") == "[U+202E]");
  // Bytes that are no UTF-8: alone, cut, too long for what they say, half of a pair.
  CHECK(escaped("a\xFF") == "a\xEF\xBF\xBD");
  CHECK(escaped("\xE2\x82") == "\xEF\xBF\xBD\xEF\xBF\xBD");
  CHECK(escaped("\xC0\xBC").find('<') == std::string::npos);
  CHECK(escaped("\xED\xA0\x80") == "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
}

}  // namespace
