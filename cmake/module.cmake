# guestlist_module(NAME USES <modules> [LINKS <public libraries>] [PRIVATE <private libraries>]
#                  [TESTS_WITH_THREADS <names>])
#
# Every module has one shape, so this one function builds them all:
#   include/guestlist/NAME/*.hpp  public headers, each compiled alone as well
#   src/*.cpp                     the static library guestlist_NAME
#   test/*_test.cpp               one GoogleTest program NAME_test
#   test/server/*_test.cpp        one GoogleTest program NAME_server_test, which starts real servers by lib/servers;
#                                 ctest runs it suite by suite, label `server`
#   test/*.hpp, other test/*.cpp  shared by the two programs above
#   test/large/*_test.cpp         one GoogleTest program NAME_large_test, ctest label `large`
#   bench/*_bench.cpp             one Google Benchmark program NAME_bench
#   fuzz/*_fuzz.cpp               one libFuzzer program each, with GUESTLIST_FUZZ
#   fake/                         fakes of the module's interfaces, target guestlist_NAME_fake, for tests only
#
# Includes go strictly down: a module sees the headers of what it USES and of nothing else, and USES
# may only name modules of a lower level. cmake/test proves that an upward include does not compile.

set(guestlist_level_base 0)
set(guestlist_level_hash 1)
set(guestlist_level_filter 2)
set(guestlist_level_port 3)
set(guestlist_level_guard 4)
set(guestlist_level_redis 4)
set(guestlist_level_sqlite 4)
set(guestlist_level_postgres 4)
set(guestlist_level_lines 4)
set(guestlist_level_http 4)
set(guestlist_level_servers 4)
set(guestlist_level_sync 5)
set(guestlist_level_gate 5)
set(guestlist_level_app 6)

add_library(guestlist_options INTERFACE)
target_compile_options(guestlist_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor
  # g++ 12 sees overlapping copies in every std::string that is assigned a literal (its bug 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  # clang counts these among -Wconversion, g++ does not.
  $<$<CXX_COMPILER_ID:Clang>:-Wno-sign-conversion>
  $<$<BOOL:${GUESTLIST_WERROR}>:-Werror>)
if(GUESTLIST_SANITIZE)
  # g++ 12 takes the sanitizers' own code for reads of uninitialised memory, and warns of the fences
  # in Asio, which ThreadSanitizer does not see; the mutexes beside them it does.
  target_compile_options(guestlist_options INTERFACE
    -fsanitize=${GUESTLIST_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized -Wno-tsan>)
  target_link_options(guestlist_options INTERFACE -fsanitize=${GUESTLIST_SANITIZE})
endif()
if(GUESTLIST_FUZZ)
  # Without it a fuzzer sees nothing of the libraries that it is there to explore.
  target_compile_options(guestlist_options INTERFACE -fsanitize=fuzzer-no-link)
  target_link_options(guestlist_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

include(GoogleTest)

# All test programs, without benchmarks and fuzzers.
add_custom_target(tests)

function(guestlist_module name)
  cmake_parse_arguments(arg "" "" "USES;LINKS;PRIVATE;TESTS_WITH_THREADS" ${ARGN})
  foreach(used IN LISTS arg_USES)
    if(NOT guestlist_level_${used} LESS guestlist_level_${name})
      message(FATAL_ERROR "lib/${name} may not use lib/${used}: includes go strictly down")
    endif()
  endforeach()
  list(TRANSFORM arg_USES PREPEND guestlist_ OUTPUT_VARIABLE used_targets)
  set(here ${CMAKE_CURRENT_SOURCE_DIR})

  file(GLOB sources CONFIGURE_DEPENDS ${here}/src/*.cpp)
  if(sources)
    add_library(guestlist_${name} STATIC ${sources})
    set(scope PUBLIC)
    target_link_libraries(guestlist_${name} PRIVATE guestlist_options ${arg_PRIVATE})
    target_include_directories(guestlist_${name} PRIVATE ${here}/src)
    if(GUESTLIST_SANITIZE AND guestlist_level_${name} LESS 3)
      # Unoptimised, units with Asio compile three times as fast; the hot loops are here.
      target_compile_options(guestlist_${name} PRIVATE -O1)
    endif()
  else()
    add_library(guestlist_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(guestlist_${name} ${scope} ${here}/include)
  target_link_libraries(guestlist_${name} ${scope} ${used_targets} ${arg_LINKS})

  guestlist_headers_alone(${name})

  file(GLOB fakes CONFIGURE_DEPENDS ${here}/fake/*.cpp)
  if(EXISTS ${here}/fake)
    if(fakes)
      add_library(guestlist_${name}_fake STATIC ${fakes})
      target_include_directories(guestlist_${name}_fake PUBLIC ${here}/fake)
      target_link_libraries(guestlist_${name}_fake PUBLIC guestlist_${name} PRIVATE guestlist_options)
    else()
      add_library(guestlist_${name}_fake INTERFACE)
      target_include_directories(guestlist_${name}_fake INTERFACE ${here}/fake)
      target_link_libraries(guestlist_${name}_fake INTERFACE guestlist_${name})
    endif()
  endif()

  file(GLOB shared_by_tests CONFIGURE_DEPENDS ${here}/test/*.cpp)
  list(FILTER shared_by_tests EXCLUDE REGEX "_test\\.cpp$")

  file(GLOB tests CONFIGURE_DEPENDS ${here}/test/*_test.cpp)
  if(arg_TESTS_WITH_THREADS AND GUESTLIST_SANITIZE STREQUAL "thread")
    list(TRANSFORM arg_TESTS_WITH_THREADS REPLACE "(.+)" "${here}/test/\\1.cpp" OUTPUT_VARIABLE tests)
  endif()
  if(tests)
    guestlist_test(${name}_test ${tests} ${shared_by_tests})
    target_link_libraries(${name}_test PRIVATE guestlist_${name} ${arg_PRIVATE})
    target_include_directories(${name}_test PRIVATE ${here}/src ${here}/test)
    if(TARGET guestlist_${name}_fake)
      target_link_libraries(${name}_test PRIVATE guestlist_${name}_fake)
    endif()
  endif()

  file(GLOB server_tests CONFIGURE_DEPENDS ${here}/test/server/*_test.cpp)
  if(server_tests)
    guestlist_server_test(${name} ${server_tests} ${shared_by_tests})
    target_link_libraries(${name}_server_test PRIVATE guestlist_${name} ${arg_PRIVATE})
    target_include_directories(${name}_server_test PRIVATE ${here}/src ${here}/test)
    if(TARGET guestlist_${name}_fake)
      target_link_libraries(${name}_server_test PRIVATE guestlist_${name}_fake)
    endif()
  endif()

  file(GLOB large_tests CONFIGURE_DEPENDS ${here}/test/large/*_test.cpp)
  if(large_tests)
    add_executable(${name}_large_test ${large_tests})
    target_link_libraries(${name}_large_test PRIVATE guestlist_options guestlist_${name} GTest::gtest_main)
    gtest_discover_tests(${name}_large_test DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 1800 LABELS large)
    # Built with the others, for ctest counts a program that is missing as a failure.
    add_dependencies(tests ${name}_large_test)
  endif()

  file(GLOB benches CONFIGURE_DEPENDS ${here}/bench/*_bench.cpp)
  if(benches)
    add_executable(${name}_bench ${benches})
    target_link_libraries(${name}_bench PRIVATE guestlist_options guestlist_${name} ${arg_PRIVATE}
                          benchmark::benchmark benchmark::benchmark_main)
    target_include_directories(${name}_bench PRIVATE ${here}/src ${here}/bench)
  endif()

  if(GUESTLIST_FUZZ)
    file(GLOB fuzzers CONFIGURE_DEPENDS ${here}/fuzz/*_fuzz.cpp)
    foreach(fuzzer IN LISTS fuzzers)
      guestlist_fuzzer(${fuzzer} guestlist_${name})
    endforeach()
  endif()
endfunction()

# A GoogleTest program whose cases ctest runs one by one.
function(guestlist_test name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE guestlist_options GTest::gtest GTest::gmock GTest::gtest_main rapidcheck)
  target_compile_definitions(${name} PRIVATE GUESTLIST_TEST_DATA="${CMAKE_CURRENT_SOURCE_DIR}/test/data")
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 300)
  add_dependencies(tests ${name})
endfunction()

# A GoogleTest program that starts servers. Each suite is one test of ctest, so that the cases of a suite can share
# what its SetUpTestSuite started.
function(guestlist_server_test module)
  set(name ${module}_server_test)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE guestlist_options guestlist_servers GTest::gtest GTest::gmock GTest::gtest_main
                        rapidcheck)
  target_compile_definitions(${name} PRIVATE GUESTLIST_TEST_DATA="${CMAKE_CURRENT_SOURCE_DIR}/test/data")
  add_dependencies(tests ${name})

  set(suites)
  foreach(source IN LISTS ARGN)
    # A suite that is added or renamed shows when its file changes.
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
    file(STRINGS ${source} heads REGEX "^(TYPED_TEST|TYPED_TEST_P|TEST|TEST_F|TEST_P|RC_GTEST_PROP|INSTANTIATE_TYPED_TEST_SUITE_P)\\(")
    # Suites that stand in a header, as the laws of the ports do, show where they are instantiated.
    list(TRANSFORM heads REPLACE "^INSTANTIATE_[A-Z_]+\\([A-Za-z0-9_]+, *" "TEST(")
    list(TRANSFORM heads REPLACE "^[A-Z_]+\\(([A-Za-z0-9_]+).*" "\\1")
    list(APPEND suites ${heads})
  endforeach()
  list(REMOVE_DUPLICATES suites)
  foreach(suite IN LISTS suites)
    add_test(NAME ${module}.${suite}
             COMMAND ${name} --gtest_filter=${suite}.*:${suite}/*:*/${suite}.*:*/${suite}/*)
    set_tests_properties(${module}.${suite} PROPERTIES TIMEOUT 300 LABELS server
                         FAIL_REGULAR_EXPRESSION "Running 0 tests")
  endforeach()
endfunction()

function(guestlist_fuzzer source)
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE guestlist_options ${ARGN})
  target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/src)
  target_compile_options(${name} PRIVATE -fsanitize=fuzzer)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
endfunction()

# Compiles each public header as a unit of its own, so that none leans on what was included before it.
function(guestlist_headers_alone name)
  file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/include/guestlist/${name}/*.hpp)
  set(units)
  foreach(header IN LISTS headers)
    get_filename_component(stem ${header} NAME_WE)
    set(unit ${CMAKE_CURRENT_BINARY_DIR}/headers/${stem}.cpp)
    file(GENERATE OUTPUT ${unit} CONTENT "#include \"guestlist/${name}/${stem}.hpp\"\n")
    list(APPEND units ${unit})
  endforeach()
  if(units)
    add_library(${name}_headers OBJECT ${units})
    target_link_libraries(${name}_headers PRIVATE guestlist_options guestlist_${name})
    add_dependencies(tests ${name}_headers)
  endif()
endfunction()
