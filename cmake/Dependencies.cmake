# The libraries behind the library. All are private: no public header includes any of theirs. A static
# archive still needs them at link time; probably-config.cmake and probably.pc repeat this list, with
# the same target names.

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(probably_hwy REQUIRED IMPORTED_TARGET GLOBAL libhwy)
pkg_check_modules(probably_xxhash REQUIRED IMPORTED_TARGET GLOBAL libxxhash)
pkg_check_modules(probably_zlib REQUIRED IMPORTED_TARGET GLOBAL zlib)
pkg_check_modules(probably_zstd REQUIRED IMPORTED_TARGET GLOBAL libzstd)

if(PROBABLY_NUMA STREQUAL "AUTO")
  pkg_check_modules(probably_numa IMPORTED_TARGET GLOBAL numa)
elseif(PROBABLY_NUMA)
  pkg_check_modules(probably_numa REQUIRED IMPORTED_TARGET GLOBAL numa)
endif()
set(probably_with_numa FALSE)
if(PROBABLY_NUMA AND TARGET PkgConfig::probably_numa)
  set(probably_with_numa TRUE)
endif()
