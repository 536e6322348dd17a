# Debian packages, made by `cpack` in the build directory or by scripts/package.sh: graphpae (the program) and
# libgraphpae-dev (headers, static libraries, CMake package).
if(NOT GRAPHPAE_BUILD_CLI)
  return()
endif()
set(CPACK_GENERATOR DEB)
# Whoever publishes packages says who they are; nobody reads mail to a host that ends in .invalid.
set(GRAPHPAE_PACKAGE_CONTACT "The graphpae developers <maintainers@graphpae.invalid>" CACHE STRING "Maintainer of the Debian packages")
set(CPACK_PACKAGE_CONTACT "${GRAPHPAE_PACKAGE_CONTACT}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL program dev)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME graphpae)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAM_DESCRIPTION "representations of graphs and molecules, learnt without labels
 Graph Positional Autoencoders and related methods for nodes and molecules:
 pre-training, embedding, honest evaluation, fine-tuning and prediction, on
 ordinary processors, from the files people have.")

# Whoever links with the static libraries needs what they were built with.
file(STRINGS scripts/packages.txt development REGEX "^lib.*-dev$|-dev$")
list(REMOVE_ITEM development libgtest-dev libcli11-dev libspdlog-dev)
list(JOIN development ", " development)
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libgraphpae-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "${development}")
set(CPACK_DEBIAN_DEV_DESCRIPTION "library of graphpae, for C++ programs
 Headers, static libraries and the CMake package of graphpae:
 find_package(graphpae) gives graphpae::graphpae, or graphpae::base without
 LibTorch.")

# What Debian asks of every package: licence and changes.
string(TIMESTAMP package_date "%a, %d %b %Y %H:%M:%S +0000" UTC)
foreach(pair program=graphpae dev=libgraphpae-dev)
  string(REPLACE "=" ";" pair ${pair})
  list(GET pair 0 component)
  list(GET pair 1 package)
  set(directory ${PROJECT_BINARY_DIR}/debian/${package})
  configure_file(cmake/debian_changelog.in ${directory}/changelog @ONLY)
  execute_process(COMMAND gzip -9nkf changelog WORKING_DIRECTORY ${directory} COMMAND_ERROR_IS_FATAL ANY)
  install(FILES ${directory}/changelog.gz cmake/copyright DESTINATION share/doc/${package} COMPONENT ${component})
endforeach()
include(CPack)
