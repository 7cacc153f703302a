#!/usr/bin/env bash
# Installs what guestlist builds with, on a fresh Debian 12 or 13 machine. Safe to run again: it
# returns at once when everything is there.
#
#   scripts/setup.sh         what `make`, `make demo`, `make test` and `make bench` need
#   scripts/setup.sh --dev   adds clang, clang-tidy, clang-format, the fuzzer's and sanitizers' runtimes
#
# Debian 12 ships Boost 1.81 and Boost.Redis needs 1.84. There the signed Boost 1.88 package of
# Debian 13 is downloaded from the machine's own mirror and unpacked into .deps/ (headers only);
# nothing outside .deps/ changes.
set -euo pipefail
cd "$(dirname "$0")/.."

build_packages=(g++ make cmake ninja-build ccache pkg-config ca-certificates
  libexpected-dev libfmt-dev libxxhash-dev libsodium-dev libmurmurhash-dev libcli11-dev
  libsqlite3-dev libssl-dev libpq-dev libgtest-dev libgmock-dev librapidcheck-dev libbenchmark-dev
  libbloom-dev libsimde-dev libhiredis-dev openssl)
dev_packages=(clang clang-tidy clang-format libclang-rt-dev)
boost_version=1.88

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }
die() { echo "setup: $*" >&2; exit 2; }

command -v apt-get >/dev/null || die "apt-get not found: this script is for Debian 12 and 13; elsewhere install the packages it lists by hand"
. /etc/os-release

if [ "${1:-}" = --dev ]; then
  [ "${VERSION_ID:-}" = 12 ] && dev_packages=("${dev_packages[@]/libclang-rt-dev/libclang-rt-14-dev}")
  build_packages+=("${dev_packages[@]}")
fi

# Debian 13 has the wanted Boost as an ordinary package.
boost_package="libboost${boost_version}-dev"
needs_private_boost=0
if [ "${VERSION_ID:-}" = 12 ]; then needs_private_boost=1; else build_packages+=("$boost_package"); fi

missing=()
for package in "${build_packages[@]}"; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
  echo "setup: installing ${missing[*]}"
  as_root apt-get update -qq
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

if [ "$needs_private_boost" = 1 ] && [ ! -e .deps/usr/include/boost/version.hpp ]; then
  echo "setup: unpacking Boost ${boost_version} (headers) into .deps/"
  mirror=$(find /etc/apt -name '*.list' -o -name '*.sources' | xargs cat |
    sed -nE 's/^URIs: *([^ ]+debian)\/? *$/\1/p; s/^deb +(\[[^]]*\] +)?([^ ]+debian)\/? .*/\2/p' | sed -n 1p)
  [ -n "$mirror" ] || die "no Debian mirror found under /etc/apt; add one, or unpack ${boost_package} of Debian 13 into .deps/"
  state=$PWD/.deps/apt
  mkdir -p "$state"/{lists/partial,cache/archives/partial}
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror trixie main" > "$state/sources.list"
  private=(-o "Dir::Etc::sourcelist=$state/sources.list" -o Dir::Etc::sourceparts=-
    -o "Dir::State::Lists=$state/lists" -o "Dir::Cache=$state/cache" -o APT::Sandbox::User=root)
  apt-get "${private[@]}" update -qq
  (cd "$state" && apt-get "${private[@]}" download -qq "$boost_package")
  dpkg -x "$state/${boost_package}"_*.deb .deps
  rm -rf "$state"
  [ -e .deps/usr/include/boost/version.hpp ] || die "the package ${boost_package} did not hold boost/version.hpp; remove .deps and try again"
fi
