// Source text → module: parse, flatten, lower. The flat tree is kept by each thread for the next file.
#include "analyzer/python/parse.h"

#include "analyzer/python/lowering.h"
#include "analyzer/python/syntax_tree.h"

namespace fullgraph::python {

namespace {

void lower(ir::Module& module, KeptTree* kept = nullptr) {
  constexpr std::size_t most_kept_nodes = std::size_t{1} << 20;
  thread_local SyntaxTree tree;
  tree.parse(module.source->text(), kept);
  Lowering(tree, module).run();
  if (tree.nodes.capacity() > most_kept_nodes) tree = {};
}

}  // namespace

std::shared_ptr<const ir::Module> parse(std::shared_ptr<const ir::SourceFile> source, std::string name, bool is_package,
                                        KeptTree* kept) {
  auto module = std::make_shared<ir::Module>();
  module->source = std::move(source);
  module->name = std::move(name);
  module->is_package = is_package;
  lower(*module, kept);
  return module;
}

std::shared_ptr<const ir::Module> parse_recording(std::shared_ptr<const ir::SourceFile> source, std::string name,
                                                  ir::Recording recording, std::shared_ptr<const ir::SourceMap> map) {
  auto module = std::make_shared<ir::Module>();
  module->source = std::move(source);
  module->name = std::move(name);
  module->is_package = true;
  module->recording = recording;
  module->map = std::move(map);
  lower(*module);
  return module;
}

}  // namespace fullgraph::python
