#include "analyzer/graphs/torchscript.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "analyzer/graphs/debug_pkl.h"
#include "analyzer/graphs/lines.h"
#include "analyzer/graphs/object_text.h"
#include "analyzer/graphs/printable.h"
#include "analyzer/graphs/tensor_text.h"

namespace fullgraph::graphs {
namespace {

using Kind = Value::Kind;

constexpr std::uint64_t most_code = std::uint64_t{64} << 20;
constexpr std::size_t most_classes = 100'000;
constexpr std::uint64_t largest_pickle = std::uint64_t{64} << 20;

// "code/__torch__/models.py" → "__torch__.models"
std::string module_name(std::string_view member) {
  member.remove_prefix(std::string_view("code/").size());
  member.remove_suffix(std::string_view(".py").size());
  std::string name(member);
  std::ranges::replace(name, '/', '.');
  return name;
}

// Which attributes of the archive's classes are parameters and buffers. Nothing else in the archive tells.
struct TensorAttributes {
  std::set<std::string, std::less<>> parameters;
  std::set<std::string, std::less<>> buffers;
};
using Classes = std::map<std::string, TensorAttributes, std::less<>>;

// The names in `["weight", "bias", ]`.
std::set<std::string, std::less<>> names_in_list(std::string_view line) {
  std::set<std::string, std::less<>> names;
  for (;;) {
    const std::size_t begin = line.find('"');
    if (begin == std::string_view::npos) return names;
    const std::size_t end = line.find('"', begin + 1);
    if (end == std::string_view::npos) return names;
    names.emplace(line.substr(begin + 1, end - begin - 1));
    line.remove_prefix(end + 1);
  }
}

// torch writes each list on a line of its own, right behind the head of the class.
void collect_classes(std::string_view code, const std::string& module, Classes& classes) {
  TensorAttributes* inside = nullptr;
  while (!code.empty()) {
    const std::string_view line = next_line(code);
    if (line.starts_with("class ") && classes.size() < most_classes) {
      const std::string_view name = line.substr(6, std::min(line.find_first_of("(:"), line.size()) - 6);
      inside = &classes[fmt::format("{}.{}", module, name)];
    } else if (inside != nullptr && line.starts_with("  __parameters__ = [")) {
      inside->parameters = names_in_list(line);
    } else if (inside != nullptr && line.starts_with("  __buffers__ = [")) {
      inside->buffers = names_in_list(line);
    } else if (!line.starts_with("  __")) {
      inside = nullptr;
    }
  }
}

class ScriptObjects : public ObjectText {
 public:
  explicit ScriptObjects(const Classes& classes) : classes_(classes) {}

 protected:
  std::optional<std::string> expression(const Value& object) override {
    if (object.callable == nullptr || !object.callable->is(Kind::Global)) return "...";
    const std::string_view callable = object.callable->text;
    if (callable.starts_with("__torch__.torch.classes.")) return "...";  // of C++; the archive does not define it
    if (!callable.starts_with("torch.jit._pickle.")) return ObjectText::expression(object);
    // Lists with elements of one type, and values whose type the pickle alone would not tell.
    const Value* const content = object.argument(0);
    const bool wraps = callable.contains(".build_") && callable.ends_with("list");
    return content != nullptr && (wraps || callable.ends_with(".restore_type_tag")) ? spell(*content) : "...";
  }

  void fill(const Value& object, const std::string& name, Lines& lines) override {
    const auto known = classes_.find(object.callable->text);
    if (known == classes_.end() || object.state == nullptr || !object.state->is(Kind::Dict))
      return ObjectText::fill(object, name, lines);
    for (const auto& [key, value] : pairs(object.state))
      if (key->is(Kind::String)) add(lines, attribute(known->second, name, key->text, *value));
  }

 private:
  std::string attribute(const TensorAttributes& tensors, const std::string& object, std::string_view name,
                        const Value& value) {
    if (tensors.parameters.contains(name)) return set_attribute(object, name, parameter(value));
    if (tensors.buffers.contains(name))
      return fmt::format("{}.register_buffer({}, {})", object, python_string(name), spell(value));
    return set_attribute(object, name, spell(value));
  }

  std::string parameter(const Value& value) {
    auto described = describe_tensor(value);
    if (!described) return spell(value);
    described->is_parameter = true;
    return shared(value, [&] { return tensor_expression(*described); });
  }

  const Classes& classes_;
};

class Reader {
 public:
  explicit Reader(const Archive& archive) : archive_(archive) { graphs_.format = Format::TorchScript; }

  Result<Graphs> read() {
    const auto names = archive_.names_in("code/");
    for (const std::string& member : names)
      if (member.ends_with(".py"))
        if (auto done = add_code(member); !done) return std::unexpected(done.error());
    if (graphs_.texts.empty())
      return std::unexpected(archive_.error(
          "code/", ErrorKind::Io,
          archive_.has("bytecode.pkl") ? "there is none: an archive for mobile devices, which holds bytecode only"
                                       : "the archive has no code"));
    if (auto done = add_constants(); !done) return std::unexpected(done.error());
    if (auto done = add_objects(); !done) return std::unexpected(done.error());
    return std::move(graphs_);
  }

 private:
  std::unexpected<Error> in_member(std::string_view member, const Error& error) const {
    return std::unexpected(archive_.error(member, error.kind, error.message));
  }

  Result<void> add_code(const std::string& member) {
    auto code = archive_.read(member, most_code);
    if (!code) return std::unexpected(code.error());
    code_size_ += code->size();
    if (code_size_ > most_code)
      return std::unexpected(archive_.error(member, ErrorKind::TooLarge,
                                            fmt::format("the archive has more than {} bytes of code", most_code)));
    Text text{module_name(member), member, std::move(*code), {}};
    if (const std::string map = member + ".debug_pkl"; archive_.has(map)) {
      auto bytes = archive_.read(map, largest_pickle);
      if (!bytes) return std::unexpected(bytes.error());
      auto read = read_debug_pkl(std::move(*bytes), text.text);
      if (!read) return in_member(map, read.error());
      text.map = std::move(*read);
    }
    collect_classes(text.text, text.module, classes_);
    graphs_.texts.push_back(std::move(text));
    return {};
  }

  Result<Pickle> read_pickle(std::string_view member) {
    auto bytes = archive_.read(member, largest_pickle);
    if (!bytes) return std::unexpected(bytes.error());
    auto pickle = Pickle::read(std::move(*bytes));
    if (!pickle) return in_member(member, pickle.error());
    return pickle;
  }

  Result<void> add_constants() {
    constexpr std::string_view member = "constants.pkl";
    if (!archive_.has(member)) return {};
    const auto pickle = read_pickle(member);
    if (!pickle) return std::unexpected(pickle.error());
    const Value& root = pickle->root();
    if (!root.is(Kind::Tuple) || root.items.empty()) return {};
    auto text = ScriptObjects(classes_).variables(root.items, "c");
    if (!text) return in_member(member, text.error());
    graphs_.texts.push_back({"CONSTANTS", std::string(member), std::move(*text), {}});
    return {};
  }

  Result<void> add_objects() {
    constexpr std::string_view member = "data.pkl";
    if (!archive_.has(member)) return {};  // torch 1.3 and before kept them in another way
    const auto pickle = read_pickle(member);
    if (!pickle) return std::unexpected(pickle.error());
    auto text = ScriptObjects(classes_).load_function(pickle->root());
    if (!text) return in_member(member, text.error());
    graphs_.texts.push_back({"__archive__", std::string(member), std::move(*text), {}});
    graphs_.entry = "__archive__:load";
    return {};
  }

  const Archive& archive_;
  Graphs graphs_;
  Classes classes_;
  std::uint64_t code_size_ = 0;
};

}  // namespace

Result<Graphs> read_torchscript(const Archive& archive) {
  return Reader(archive).read();
}

}  // namespace fullgraph::graphs
