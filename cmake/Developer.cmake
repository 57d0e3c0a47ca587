# What only our own builds use: warnings as errors, sanitizers, coverage. None of it reaches a
# consumer or the installed files.

if(PROBABLY_DEVELOPER)
  find_program(PROBABLY_CCACHE ccache)
  mark_as_advanced(PROBABLY_CCACHE)
  if(PROBABLY_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${PROBABLY_CCACHE}")
  endif()
endif()

# Sanitizers and coverage must be the same in every object of a program, so they are directory options
# and not target options.
if(PROBABLY_SANITIZE)
  add_compile_options(-fsanitize=${PROBABLY_SANITIZE} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${PROBABLY_SANITIZE})
endif()
if(PROBABLY_BUILD_FUZZERS)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "PROBABLY_BUILD_FUZZERS needs clang; the compiler is ${CMAKE_CXX_COMPILER}")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(PROBABLY_COVERAGE)
  # Threads count concurrently, so the counters are atomic.
  add_compile_options(--coverage -fprofile-update=atomic)
  add_link_options(--coverage)
endif()

# Gives one of our own targets the house rules.
function(probably_developer_target target)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  if(PROBABLY_DEVELOPER)
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror)
  endif()
endfunction()

# Sets `variable` to TRUE when this compiler and this machine both know AVX2 and BMI2: for the programs
# that are built a second time as by a user who passes these flags.
function(probably_can_run_avx2 variable)
  include(CheckCXXSourceRuns)
  set(CMAKE_REQUIRED_FLAGS "-mavx2 -mbmi2")
  check_cxx_source_runs(
    "int main() { return __builtin_cpu_supports(\"avx2\") && __builtin_cpu_supports(\"bmi2\") ? 0 : 1; }"
    PROBABLY_CAN_RUN_AVX2)
  set(${variable} ${PROBABLY_CAN_RUN_AVX2} PARENT_SCOPE)
endfunction()
