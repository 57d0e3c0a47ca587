# Everything that can be chosen from outside. A consumer's defaults are quiet: the library alone, no
# warnings as errors, nothing installed beside the consumer's own files.

option(PROBABLY_DEVELOPER "Treat warnings as errors; the presets switch it on" OFF)
option(PROBABLY_BUILD_TESTS "Build the tests" OFF)
option(PROBABLY_BUILD_FUZZERS "Build the libFuzzer targets (clang only)" OFF)
option(PROBABLY_BUILD_BENCH "Build the benchmark programs" OFF)
option(PROBABLY_BUILD_CLI "Build the program `probably`" OFF)
option(PROBABLY_BUILD_EXAMPLES "Build the demonstration program" OFF)
option(PROBABLY_INSTALL "Install the library with its CMake package and pkg-config file"
       ${PROJECT_IS_TOP_LEVEL})
option(PROBABLY_FORCE_SCALAR "Use only the scalar specification, in the headers and the kernels" OFF)
option(PROBABLY_COVERAGE "Instrument for gcov" OFF)
set(PROBABLY_SANITIZE "" CACHE STRING "Sanitizers as a comma-separated list, e.g. address,undefined")
set(PROBABLY_NUMA AUTO CACHE STRING "NUMA interleaving through libnuma: AUTO (if present), ON, OFF")
set_property(CACHE PROBABLY_NUMA PROPERTY STRINGS AUTO ON OFF)

get_property(probably_multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
if(PROJECT_IS_TOP_LEVEL AND NOT probably_multi_config AND NOT CMAKE_BUILD_TYPE)
  set_property(CACHE CMAKE_BUILD_TYPE PROPERTY VALUE Release)
endif()
