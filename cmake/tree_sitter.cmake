# The parser core and the Python grammar. Debian's core is too old for the grammar, so both come as source archives
# through pip and npm (tools/fetch_dependencies checks them) and are built here with warnings off.
if(DEFINED ENV{XDG_CACHE_HOME} AND NOT "$ENV{XDG_CACHE_HOME}" STREQUAL "")
  set(cache_home "$ENV{XDG_CACHE_HOME}")
else()
  set(cache_home "$ENV{HOME}/.cache")
endif()
set(FULLGRAPH_DEPENDENCIES "${cache_home}/fullgraph-build/dependencies" CACHE PATH "Unpacked source archives")

set(core "${FULLGRAPH_DEPENDENCIES}/tree_sitter-0.26.1/tree_sitter/core/lib")
set(grammar "${FULLGRAPH_DEPENDENCIES}/tree-sitter-python-0.25.0/src")
if(NOT EXISTS "${core}/src/lib.c" OR NOT EXISTS "${grammar}/scanner.c")
  execute_process(COMMAND "${PROJECT_SOURCE_DIR}/tools/fetch_dependencies" "${FULLGRAPH_DEPENDENCIES}"
                  RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "tools/fetch_dependencies failed: the parser's sources are missing")
  endif()
endif()

add_library(tree_sitter STATIC "${core}/src/lib.c")
target_include_directories(tree_sitter SYSTEM PUBLIC "${core}/include" PRIVATE "${core}/src")
target_compile_definitions(tree_sitter PRIVATE _DEFAULT_SOURCE _POSIX_C_SOURCE=200112L)
target_compile_options(tree_sitter PRIVATE -w)

add_library(tree_sitter_python STATIC "${grammar}/parser.c" "${grammar}/scanner.c")
target_include_directories(tree_sitter_python SYSTEM PRIVATE "${grammar}")
target_compile_options(tree_sitter_python PRIVATE -w)
target_link_libraries(tree_sitter_python PUBLIC tree_sitter)
