# Text files that the program carries: what it writes beside somebody's sources, or into a page.

# fullgraph_embed_text(TARGET FILE NAME): defines `extern const std::string_view NAME` of namespace fullgraph::embedded in
# TARGET; who uses it declares it.
function(fullgraph_embed_text target file name)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${file}")
  file(READ "${PROJECT_SOURCE_DIR}/${file}" text)
  set(output "${PROJECT_BINARY_DIR}/generated/embedded/${name}.cpp")
  file(CONFIGURE OUTPUT "${output}" @ONLY CONTENT [[
#include <string_view>
namespace fullgraph::embedded {
extern const std::string_view @name@;
const std::string_view @name@ = R"embedded(@text@)embedded";
}
]])
  target_sources(${target} PRIVATE "${output}")
endfunction()
