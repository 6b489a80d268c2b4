# Files as a compiled table: each as {name, text}. Run as a script, it writes the table; included, it defines the
# function that has it made.
if(CMAKE_SCRIPT_MODE_FILE)
  set(text "// Made by cmake/embed_files.cmake.\n")
  foreach(file IN LISTS FILES)
    get_filename_component(name "${file}" NAME)
    file(READ "${file}" content)
    if(content MATCHES "\\)embedded\"")
      message(FATAL_ERROR "${file} holds the mark that ends an embedded file")
    endif()
    string(APPEND text "{\"${name}\", R\"embedded(${content})embedded\"},\n")
  endforeach()
  file(WRITE "${OUTPUT}" "${text}")
  return()
endif()

set(fullgraph_embed_files_script "${CMAKE_CURRENT_LIST_FILE}")

# fullgraph_embed_files(TARGET NAME GLOB): makes "NAME" (an .inc) includable in TARGET's sources.
function(fullgraph_embed_files target name glob)
  file(GLOB files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${glob}")
  set(folder "${PROJECT_BINARY_DIR}/generated/embedded")
  file(MAKE_DIRECTORY "${folder}")
  add_custom_command(
    OUTPUT "${folder}/${name}"
    COMMAND "${CMAKE_COMMAND}" "-DFILES=${files}" "-DOUTPUT=${folder}/${name}" -P "${fullgraph_embed_files_script}"
    DEPENDS ${files} "${fullgraph_embed_files_script}"
    VERBATIM)
  target_sources(${target} PRIVATE "${folder}/${name}")
  target_include_directories(${target} PRIVATE "${folder}")
endfunction()
