# The torch profiles as compiled tables. The folder is globbed: adding a version is adding its file.

# fullgraph_profile_tables(TARGET FOLDER): makes "profile_tables.inc" includable in TARGET's sources.
function(fullgraph_profile_tables target folder)
  file(GLOB profiles CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${folder}/torch-*.tsv")
  list(SORT profiles COMPARE NATURAL)
  set(facts "${PROJECT_SOURCE_DIR}/${folder}/version_facts.tsv")
  set(visibilities "${PROJECT_SOURCE_DIR}/${folder}/graph_breaks.tsv")
  set(output "${PROJECT_BINARY_DIR}/generated/profile/profile_tables.inc")
  add_executable(fullgraph_embed "${PROJECT_SOURCE_DIR}/analyzer/profile/embed.cpp")
  target_link_libraries(fullgraph_embed PRIVATE fullgraph_options)
  file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/generated/profile")
  add_custom_command(
    OUTPUT "${output}"
    COMMAND fullgraph_embed "${output}" "${facts}" "${visibilities}" ${profiles}
    DEPENDS ${profiles} "${facts}" "${visibilities}" fullgraph_embed
    VERBATIM)
  target_sources(${target} PRIVATE "${output}")
  target_include_directories(${target} PRIVATE "${PROJECT_BINARY_DIR}/generated/profile")
endfunction()
