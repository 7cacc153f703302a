# Every library that guestlist uses, in one place. A module names the targets it links.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(tl-expected REQUIRED)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(PostgreSQL REQUIRED)
find_package(GTest REQUIRED)
find_package(benchmark REQUIRED)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(sodium REQUIRED IMPORTED_TARGET libsodium)
pkg_check_modules(murmurhash REQUIRED IMPORTED_TARGET libmurmurhash)
pkg_check_modules(prometheus REQUIRED IMPORTED_TARGET prometheus-cpp-core)
pkg_check_modules(hiredis REQUIRED IMPORTED_TARGET hiredis)

# Debian's RapidCheck has no config file in every release.
find_path(RAPIDCHECK_INCLUDE_DIR rapidcheck.h REQUIRED)
find_library(RAPIDCHECK_LIBRARY rapidcheck REQUIRED)
add_library(rapidcheck INTERFACE IMPORTED)
target_include_directories(rapidcheck SYSTEM INTERFACE ${RAPIDCHECK_INCLUDE_DIR})
target_link_libraries(rapidcheck INTERFACE ${RAPIDCHECK_LIBRARY})

# The naive peer of the benchmarks; they run without it too.
find_path(LIBBLOOM_INCLUDE_DIR bloom.h)
find_library(LIBBLOOM_LIBRARY bloom)

# Boost, headers only: the machine's own where it is new enough, else what scripts/setup.sh unpacked.
find_path(BOOST_INCLUDE_DIR boost/redis.hpp HINTS ${CMAKE_SOURCE_DIR}/.deps/usr/include)
if(NOT BOOST_INCLUDE_DIR)
  message(FATAL_ERROR "Boost >= 1.84 not found: run scripts/setup.sh")
endif()
add_library(boost_headers INTERFACE IMPORTED)
target_include_directories(boost_headers SYSTEM INTERFACE ${BOOST_INCLUDE_DIR})
target_compile_definitions(boost_headers INTERFACE BOOST_ASIO_NO_DEPRECATED BOOST_ASIO_DISABLE_BOOST_ARRAY)
target_link_libraries(boost_headers INTERFACE Threads::Threads)
