# `cmake --install` gives headers, libraries, the program and a package for find_package(graphpae).
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/graphpae)
install(TARGETS graphpae graphpae_data EXPORT graphpae-targets)
install(EXPORT graphpae-targets NAMESPACE graphpae:: DESTINATION ${package_dir})
install(DIRECTORY graphpae DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h" PATTERN "cli" EXCLUDE)
install(FILES ${embedded}/graphpae/version.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/graphpae)
install(DIRECTORY recipes DESTINATION ${CMAKE_INSTALL_DATADIR}/graphpae)
configure_package_config_file(cmake/graphpae-config.cmake.in ${PROJECT_BINARY_DIR}/graphpae-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/graphpae-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/graphpae-config.cmake ${PROJECT_BINARY_DIR}/graphpae-config-version.cmake cmake/dependencies.cmake
        DESTINATION ${package_dir})
