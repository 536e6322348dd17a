# `cmake --install` gives the program with its manual page and completions, the libraries, the public headers and a
# package for find_package(graphpae): components base (no LibTorch needed) and graphpae (all of it, the default).
include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME dev)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/graphpae)
install(TARGETS graphpae_base EXPORT graphpae-base-targets)
install(EXPORT graphpae-base-targets NAMESPACE graphpae:: DESTINATION ${package_dir})
if(GRAPHPAE_BUILD_TORCH)
  install(TARGETS graphpae EXPORT graphpae-targets)
  install(EXPORT graphpae-targets NAMESPACE graphpae:: DESTINATION ${package_dir})
endif()

# Public headers say so in their first lines. They are installed with what they include.
set(public_headers)
set(pending graphpae/graphpae.h graphpae/graph_pae.h graphpae/base.h)
while(pending)
  list(POP_FRONT pending header)
  if(header IN_LIST public_headers OR NOT EXISTS ${PROJECT_SOURCE_DIR}/${header})
    continue()
  endif()
  list(APPEND public_headers ${header})
  get_filename_component(directory ${header} DIRECTORY)
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${directory})
  file(STRINGS ${header} includes REGEX "^#include \"graphpae/")
  list(TRANSFORM includes REPLACE "^#include \"([^\"]+)\".*" "\\1")
  list(APPEND pending ${includes})
endwhile()
install(FILES ${embedded}/graphpae/version.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/graphpae)

install(DIRECTORY recipes DESTINATION ${CMAKE_INSTALL_DATADIR}/graphpae COMPONENT program)
configure_package_config_file(cmake/graphpae-config.cmake.in ${PROJECT_BINARY_DIR}/graphpae-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/graphpae-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/graphpae-config.cmake ${PROJECT_BINARY_DIR}/graphpae-config-version.cmake cmake/dependencies.cmake
        DESTINATION ${package_dir})

# The manual page and completions, which the program writes about itself. Part of `all`, not of what ./run builds.
if(GRAPHPAE_BUILD_CLI)
  set(manual ${PROJECT_BINARY_DIR}/manual)
  find_program(GZIP gzip REQUIRED)
  add_custom_command(
    OUTPUT ${manual}/graphpae.1.gz ${manual}/graphpae ${manual}/_graphpae ${manual}/graphpae.fish
    COMMAND ${CMAKE_COMMAND} -E make_directory ${manual}
    COMMAND graphpae_cli manual man > ${manual}/graphpae.1
    COMMAND ${GZIP} -9nf ${manual}/graphpae.1
    COMMAND graphpae_cli manual bash > ${manual}/graphpae
    COMMAND graphpae_cli manual zsh > ${manual}/_graphpae
    COMMAND graphpae_cli manual fish > ${manual}/graphpae.fish
    DEPENDS graphpae_cli graphpae_full
    COMMENT "Writing the manual page and completions"
    VERBATIM)
  add_custom_target(graphpae_manual ALL DEPENDS ${manual}/graphpae.1.gz)
  install(FILES ${manual}/graphpae.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)
  install(FILES ${manual}/graphpae DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT program)
  install(FILES ${manual}/_graphpae DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT program)
  install(FILES ${manual}/graphpae.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT program)
endif()
