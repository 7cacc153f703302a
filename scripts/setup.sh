#!/usr/bin/env bash
# Installs what guestlist builds with, on a fresh Debian 12 or 13 machine. Safe to run again: it
# returns at once when everything is there.
#
#   scripts/setup.sh         what `make`, `make demo`, `make test` and `make bench` need
#   scripts/setup.sh --dev   adds clang, clang-tidy, clang-format, the fuzzer's and sanitizers' runtimes
#   scripts/setup.sh --interop   adds a JDK and Maven, Python's venv, Node and npm
#
# What the machine's packages do not give is unpacked into .deps/, from signed packages of the machine's own
# mirror; nothing outside .deps/ changes:
#   - Boost headers on Debian 12, which ships 1.81 where Boost.Redis needs 1.84: those of Debian 13.
#   - The servers that tests start: redis-server, valkey-server (on Debian 12 from its backports),
#     PostgreSQL, nginx and HAProxy, unless the machine has them. Unpacked, they start no service and make no cluster; only the
#     libraries they need are installed.
set -euo pipefail
cd "$(dirname "$0")/.."

build_packages=(g++ make cmake ninja-build ccache pkg-config ca-certificates
  libexpected-dev libfmt-dev libxxhash-dev libsodium-dev libmurmurhash-dev libcli11-dev
  libsqlite3-dev libssl-dev libpq-dev libgtest-dev libgmock-dev librapidcheck-dev libbenchmark-dev
  libbloom-dev libsimde-dev libhiredis-dev libtomlplusplus-dev prometheus-cpp-dev openssl python3 spin)
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
if [ "${1:-}" = --interop ]; then
  command -v javac >/dev/null || build_packages+=(default-jdk-headless)
  command -v mvn >/dev/null || build_packages+=(maven)
  python3 -c 'import ensurepip, venv' 2>/dev/null || build_packages+=(python3-venv)
  command -v npm >/dev/null || build_packages+=(nodejs npm)
fi

# Unpacked into .deps/: NAME/SUITE each.
unpacked_headers=()
unpacked_servers=()
boost_package="libboost${boost_version}-dev"
suite=${VERSION_CODENAME:-}
case ${VERSION_ID:-} in
  12)
    [ -e .deps/usr/include/boost/version.hpp ] || unpacked_headers+=("$boost_package/trixie")
    valkey_suite=bookworm-backports
    postgres_version=15
    ;;
  *)
    build_packages+=("$boost_package")
    valkey_suite=$suite
    postgres_version=17
    ;;
esac
has_program() { command -v "$1" .deps/usr/bin/"$1" /usr/sbin/"$1" .deps/usr/sbin/"$1" /usr/lib/postgresql/*/bin/"$1" .deps/usr/lib/postgresql/*/bin/"$1" >/dev/null; }
has_program redis-server || unpacked_servers+=("redis-server/$suite" "redis-tools/$suite")
has_program valkey-server || unpacked_servers+=("valkey-server/$valkey_suite" "valkey-tools/$valkey_suite")
has_program nginx || unpacked_servers+=("nginx/$suite")
has_program haproxy || unpacked_servers+=("haproxy/$suite")
has_program postgres || unpacked_servers+=("postgresql-$postgres_version/$suite")

install_missing() {
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  echo "setup: installing ${missing[*]}"
  as_root apt-get update -qq
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# A state of apt of its own, which knows the suites that packages are unpacked from.
private_state=$PWD/.deps/apt
private_apt() {
  apt-get -o "Dir::Etc::sourcelist=$private_state/sources.list" -o Dir::Etc::sourceparts=- \
    -o "Dir::State::Lists=$private_state/lists" -o "Dir::Cache=$private_state/cache" -o APT::Sandbox::User=root "$@"
}
know_suites() {
  local mirror
  mirror=$(find /etc/apt -name '*.list' -o -name '*.sources' | xargs cat |
    sed -nE 's/^URIs: *([^ ]+debian)\/? *$/\1/p; s/^deb +(\[[^]]*\] +)?([^ ]+debian)\/? .*/\2/p' | sed -n 1p)
  [ -n "$mirror" ] || die "no Debian mirror found under /etc/apt; add one, or unpack $* into .deps/"
  mkdir -p "$private_state"/{lists/partial,cache/archives/partial}
  printf '%s\n' "${@#*/}" | sort -u | while read -r wanted; do
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $wanted main"
  done > "$private_state/sources.list"
  private_apt update -qq
}

# What unpacked programs need of the machine. PostgreSQL asks for LLVM, of which it only compiles queries.
libraries_of() {
  local package
  for package in "$@"; do dpkg-deb -f "$package" Depends; done | tr ',' '\n' |
    sed -E 's/\|.*//; s/[ (].*//2; s/^ *([^ (]+).*/\1/' | grep -E '^(lib|tzdata)' | grep -v '^libllvm' | sort -u
}

install_missing "${build_packages[@]}"

unpacked=("${unpacked_headers[@]}" "${unpacked_servers[@]}")
if [ ${#unpacked[@]} -gt 0 ]; then
  echo "setup: unpacking ${unpacked[*]%/*} into .deps/"
  know_suites "${unpacked[@]}"
  (cd "$private_state" && private_apt download -qq "${unpacked[@]}")
  if [ ${#unpacked_servers[@]} -gt 0 ]; then
    mapfile -t libraries < <(cd "$private_state" && libraries_of $(printf '%s_*.deb ' "${unpacked_servers[@]%/*}"))
    install_missing "${libraries[@]}"
  fi
  for package in "$private_state"/*.deb; do dpkg -x "$package" .deps; done
  rm -rf "$private_state"
  for package in "${unpacked_headers[@]}"; do
    [ -e .deps/usr/include/boost/version.hpp ] || die "the package ${package%/*} did not hold boost/version.hpp; remove .deps and try again"
  done
fi
