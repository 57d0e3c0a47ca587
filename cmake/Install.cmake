# Installs the library, its headers, a relocatable CMake package and a relocatable pkg-config file.

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(probably_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/probably")
install(
  TARGETS probably
  EXPORT probably-targets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(EXPORT probably-targets NAMESPACE probably:: DESTINATION "${probably_package_dir}")

get_target_property(probably_type probably TYPE)
set(probably_static FALSE)
if(probably_type STREQUAL "STATIC_LIBRARY")
  set(probably_static TRUE)
endif()

configure_package_config_file(
  cmake/probably-config.cmake.in "${PROJECT_BINARY_DIR}/probably-config.cmake"
  INSTALL_DESTINATION "${probably_package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/probably-config-version.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/probably-config.cmake"
              "${PROJECT_BINARY_DIR}/probably-config-version.cmake"
        DESTINATION "${probably_package_dir}")

# The prefix is told relative to the file's own place, so that an installed tree can be moved.
set(probably_pc_dir "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig")
file(RELATIVE_PATH probably_pc_prefix "${probably_pc_dir}" "${CMAKE_INSTALL_PREFIX}")
string(REGEX REPLACE "/$" "" probably_pc_prefix "${probably_pc_prefix}")
set(probably_pc_libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(probably_pc_libdir "${CMAKE_INSTALL_LIBDIR}")
endif()
set(probably_pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
if(IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
  set(probably_pc_includedir "${CMAKE_INSTALL_INCLUDEDIR}")
endif()
set(probably_pc_requires "libhwy libxxhash libzstd zlib")
if(probably_with_numa)
  string(APPEND probably_pc_requires " numa")
endif()
set(probably_pc_cflags "")
if(PROBABLY_FORCE_SCALAR)
  set(probably_pc_cflags " -DPROBABLY_FORCE_SCALAR")
endif()
configure_file(cmake/probably.pc.in probably.pc @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/probably.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
