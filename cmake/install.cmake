# `cmake --install`: the program with its workers, documentation, and the analyser as libraries (find_package(fullgraph)).
# With FULLGRAPH_BUNDLE the program alone, with the shared libraries that no system is sure to have: that is what the
# Python wheel holds.
include(GNUInstallDirs)

set(bin "${CMAKE_INSTALL_BINDIR}")
set(share "${CMAKE_INSTALL_DATADIR}")
set(private_libraries "${CMAKE_INSTALL_LIBDIR}/fullgraph")
if(SKBUILD)
  set(bin "${SKBUILD_SCRIPTS_DIR}")
  set(share "${SKBUILD_DATA_DIR}/share")
  set(private_libraries "${SKBUILD_DATA_DIR}/lib/fullgraph")
endif()

# What the program prints, where others look for it: FILE below the share folder, then the program's arguments.
function(install_printed file)
  list(JOIN ARGN " " arguments)
  install(CODE "
    set(file \"${share}/${file}\")
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY \"\${CMAKE_INSTALL_PREFIX}\")
    cmake_path(GET file PARENT_PATH folder)
    file(MAKE_DIRECTORY \"\${folder}\")
    execute_process(COMMAND \"$<TARGET_FILE:fullgraph>\" ${arguments} OUTPUT_FILE \"\${file}\" COMMAND_ERROR_IS_FATAL ANY)
" COMPONENT program)
endfunction()
function(install_manual_and_completions)
  install_printed("man/man1/fullgraph.1" man)
  install_printed("bash-completion/completions/fullgraph" completion bash)
  install_printed("zsh/site-functions/_fullgraph" completion zsh)
  install_printed("fish/vendor_completions.d/fullgraph.fish" completion fish)
endfunction()

if(FULLGRAPH_BUNDLE)
  if(FULLGRAPH_PREBUILT)
    add_executable(fullgraph IMPORTED)
    set_target_properties(fullgraph PROPERTIES IMPORTED_LOCATION "${FULLGRAPH_PREBUILT}")
    install(IMPORTED_RUNTIME_ARTIFACTS fullgraph RUNTIME DESTINATION "${bin}" COMPONENT program)
  else()
    install(TARGETS fullgraph RUNTIME DESTINATION "${bin}" COMPONENT program)
  endif()
  # Under the names that are asked for, without the links that lead there: wheels have none, and would hold all twice.
  install(CODE [[
    file(GET_RUNTIME_DEPENDENCIES EXECUTABLES "$<TARGET_FILE:fullgraph>" RESOLVED_DEPENDENCIES_VAR needed
         PRE_INCLUDE_REGEXES "^lib(fmt|re2|mimalloc|zip|crypto|bz2|lzma|zstd)[.]" PRE_EXCLUDE_REGEXES ".*")
]] COMPONENT program)
  install(CODE "
    set(program \"${bin}/fullgraph\")
    cmake_path(ABSOLUTE_PATH program BASE_DIRECTORY \"\${CMAKE_INSTALL_PREFIX}\")
    execute_process(COMMAND \"${CMAKE_STRIP}\" \"\${program}\" COMMAND_ERROR_IS_FATAL ANY)
    set(folder \"${private_libraries}\")
    cmake_path(ABSOLUTE_PATH folder BASE_DIRECTORY \"\${CMAKE_INSTALL_PREFIX}\")
    file(MAKE_DIRECTORY \"\${folder}\")
    foreach(library IN LISTS needed)
      cmake_path(GET library FILENAME name)
      file(REAL_PATH \"\${library}\" library)
      file(COPY_FILE \"\${library}\" \"\${folder}/\${name}\")
    endforeach()
" COMPONENT program)
  install_manual_and_completions()
  return()
endif()

if(TARGET fullgraph)
  install(TARGETS fullgraph RUNTIME DESTINATION "${bin}")
  install_manual_and_completions()
endif()
foreach(worker fullgraph-clang fullgraph-libtorch)
  if(TARGET ${worker})
    install(TARGETS ${worker} RUNTIME DESTINATION "${bin}" OPTIONAL)
  endif()
endforeach()
install(FILES README.md LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY docs/ DESTINATION "${CMAKE_INSTALL_DOCDIR}" FILES_MATCHING PATTERN "*.md")

# ---- the analyser as libraries
set(libraries fullgraph_options fullgraph_ir fullgraph_python fullgraph_graphs fullgraph_profile fullgraph_trace
    fullgraph_rules fullgraph_page fullgraph_reports fullgraph_fixer tree_sitter tree_sitter_python)
foreach(library IN LISTS libraries)
  string(REPLACE "fullgraph_" "" name "${library}")
  set_target_properties(${library} PROPERTIES EXPORT_NAME "${name}")
endforeach()
install(TARGETS ${libraries} EXPORT fullgraph ARCHIVE DESTINATION "${private_libraries}")
foreach(folder analyzer/ir analyzer/python analyzer/graphs analyzer/profile analyzer/trace rules page reports fixer)
  file(GLOB headers CONFIGURE_DEPENDS "${folder}/*.h")
  install(FILES ${headers} DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/fullgraph/${folder}")
endforeach()
set(package "${CMAKE_INSTALL_LIBDIR}/cmake/fullgraph")
install(EXPORT fullgraph NAMESPACE fullgraph:: FILE fullgraphTargets.cmake DESTINATION "${package}")
include(CMakePackageConfigHelpers)
configure_package_config_file(cmake/fullgraphConfig.cmake.in "${PROJECT_BINARY_DIR}/fullgraphConfig.cmake"
                              INSTALL_DESTINATION "${package}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/fullgraphConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/fullgraphConfig.cmake" "${PROJECT_BINARY_DIR}/fullgraphConfigVersion.cmake"
        DESTINATION "${package}")
