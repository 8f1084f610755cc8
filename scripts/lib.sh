# shellcheck shell=bash
# Shared by the commands in this folder: packages, configuration, build.
# Source it from a bash script that has done `set -euo pipefail`.
#
# Environment:
#   MK_BUILD_DIR     build folder (default: build)
#   MK_JOBS          compilations at a time (default: from cores and memory)
#   MK_SKIP_INSTALL  1: install no packages, use what is there
#   MK_CMAKE_ARGS    more arguments for CMake

MK_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
MK_BUILD_DIR=${MK_BUILD_DIR:-$MK_ROOT/build}
MK_LLVM=22

# What it takes to build, run and test on Debian 12.
MK_PACKAGES=(
  g++ "clang-$MK_LLVM" cmake ninja-build ccache binutils xz-utils python3 python3-psutil python3-numpy
  "libmlir-$MK_LLVM-dev" "mlir-$MK_LLVM-tools"
  "llvm-$MK_LLVM-dev" "llvm-$MK_LLVM-tools" "lld-$MK_LLVM" "liblld-$MK_LLVM-dev"
  # find_package(MLIR) asks for these.
  libzstd-dev libedit-dev libcurl4-openssl-dev libz3-dev zlib1g-dev
  libssl-dev nlohmann-json3-dev libgtest-dev libgmock-dev libhwloc-dev libibverbs-dev
  # mpirun, which tests start ranks with.
  openmpi-bin
)

mk_say() { printf '== %s\n' "$*"; }

# mk_help SCRIPT: prints the comment at its beginning, and ends.
mk_help() {
  awk 'NR == 1 { next } !/^#/ { exit } { sub(/^# ?/, ""); print }' "$1"
  exit 0
}

# mk_die MESSAGE [REMEDY-LINE...]
mk_die() {
  printf 'error: %s\n' "$1" >&2
  shift
  if (($#)); then
    printf 'remedy:\n' >&2
    printf '  %s\n' "$@" >&2
  fi
  exit 1
}

# Sets MK_MISSING to the packages that are not installed.
mk_find_missing() {
  local installed package
  # It fails for a package that it has never heard of, and lists the others.
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package} ' \
      "${MK_PACKAGES[@]}" 2>/dev/null || true)
  MK_MISSING=()
  for package in "${MK_PACKAGES[@]}"; do
    [[ " $installed" == *" installed $package "* ]] || MK_MISSING+=("$package")
  done
}

# Sets MK_UNKNOWN to the missing packages that apt has no candidate for.
mk_find_unknown() {
  local package
  MK_UNKNOWN=()
  for package in "${MK_MISSING[@]}"; do
    apt-cache policy "$package" 2>/dev/null |
      grep '^  Candidate: [^(]' >/dev/null || MK_UNKNOWN+=("$package")
  done
}

mk_apt() {
  "${MK_SUDO[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq \
    -o DPkg::Lock::Timeout=120 -o Acquire::Retries=3 -o Dpkg::Use-Pty=0 \
    "$@" </dev/null
}

# apt-get update exits with 0 even if it could not download anything.
mk_apt_update() {
  mk_say "Updating the package lists"
  local log
  if ! log=$(mk_apt -o APT::Update::Error-Mode=any update 2>&1); then
    printf '%s\n' "$log" >&2
    mk_die "the package lists could not be updated: no network, or a wrong source in /etc/apt" \
      "get this machine onto the network (or set a proxy in /etc/apt/apt.conf.d), then run this again," \
      "or install on another way: ${MK_MISSING[*]}," \
      "and run this again with MK_SKIP_INSTALL=1"
  fi
}

# mk_archive SUITE: where this machine's apt has a suite of Debian from; nothing
# if it does not know the suite.
mk_archive() {
  # `apt-get indextargets` names only what has been downloaded already.
  apt-get update --print-uris 2>/dev/null |
    awk -v marker="/dists/$1/" '
      !found && (at = index($1, marker)) {
        archive = substr($1, 2, at - 2) # behind a quote
        sub("/+$", "", archive)
        print archive
        found = 1
      }' || true
}

# How to let apt know Debian's security suite, which lies beside the archive.
mk_security_remedy() {
  local archive
  archive=$(mk_archive bookworm)
  if [[ $archive == */debian ]]; then
    printf '%s' "as root: echo 'deb $archive-security bookworm-security main' > /etc/apt/sources.list.d/bookworm-security.list"
  else
    printf '%s' "as root: add Debian's security suite to a file of /etc/apt/sources.list.d: deb <mirror>/debian-security bookworm-security main"
  fi
}

mk_install() {
  [[ ${MK_SKIP_INSTALL:-0} != 1 ]] || return 0
  local id='' version=''
  if [[ -r /etc/os-release ]]; then
    id=$(. /etc/os-release && printf %s "${ID:-}")
    version=$(. /etc/os-release && printf %s "${VERSION_ID:-}")
  fi
  if [[ $id != debian ]] || ! command -v dpkg-query apt-get >/dev/null; then
    mk_die "this installs packages on Debian 12 only; this is ${id:-an unknown system} $version" \
      "install LLVM and MLIR $MK_LLVM with development files, clang or g++ 12 and newer, CMake 3.25, Ninja," \
      "lld with development files, OpenSSL, nlohmann-json, GoogleTest, hwloc and libibverbs," \
      "then run: MK_SKIP_INSTALL=1 MK_CMAKE_ARGS=-DMLIR_DIR=<prefix>/lib/cmake/mlir $0"
  fi

  mk_find_missing
  ((${#MK_MISSING[@]})) || return 0

  MK_SUDO=()
  if ((EUID)); then
    if ! command -v sudo >/dev/null; then
      mk_die "packages are missing and this is neither root nor has sudo" \
        "as root: apt-get update && apt-get install --no-install-recommends ${MK_MISSING[*]}"
    fi
    MK_SUDO=(sudo)
    # Where nobody can type a password sudo has to work without one.
    [[ -t 0 && -t 2 ]] || MK_SUDO=(sudo -n)
    "${MK_SUDO[@]}" true || mk_die "packages are missing and sudo does not work here" \
      "as root: apt-get update && apt-get install --no-install-recommends ${MK_MISSING[*]}"
  fi

  local updated=0
  mk_find_unknown
  if ((${#MK_UNKNOWN[@]})); then
    mk_apt_update
    updated=1
    mk_find_unknown
  fi
  if ((${#MK_UNKNOWN[@]})); then
    if [[ ${MK_UNKNOWN[*]} == *-$MK_LLVM* && $version == 12 ]]; then
      mk_die "apt knows no ${MK_UNKNOWN[*]}: LLVM $MK_LLVM is in Debian 12's security suite, which is not among this machine's sources" \
        "$(mk_security_remedy)" \
        "then run this again"
    fi
    mk_die "apt knows no ${MK_UNKNOWN[*]} on ${id} ${version:-testing}" \
      "add a source that has LLVM $MK_LLVM (Debian 12: its security suite; others: the packages of the LLVM project)," \
      "or install it on another way and run this again with MK_SKIP_INSTALL=1"
  fi

  mk_say "Installing ${#MK_MISSING[@]} Debian packages: ${MK_MISSING[*]}"
  local options=(-y --no-install-recommends)
  if ! mk_apt install "${options[@]}" "${MK_MISSING[@]}"; then
    # Lists older than the archive name files that are gone.
    ((updated)) || mk_apt_update
    mk_apt install "${options[@]}" "${MK_MISSING[@]}" ||
      mk_die "apt-get could not install ${MK_MISSING[*]}; its reason is above" \
        "as root: apt-get -f install && apt-get install --no-install-recommends ${MK_MISSING[*]}"
  fi
}

# Compilations at a time: a heavy one takes 1.5 GB.
mk_jobs() {
  if [[ -n ${MK_JOBS:-} ]]; then
    printf %s "$MK_JOBS"
    return
  fi
  local cores memory
  cores=$(nproc)
  memory=$(awk '/^MemAvailable/ {print int($2 / 1500000)}' /proc/meminfo)
  ((memory >= 1)) || memory=1
  printf %s $((cores < memory ? cores : memory))
}

mk_configure() {
  local version args=() log
  if [[ ${MK_CMAKE_ARGS:-} != *MLIR_DIR* && -z ${MLIR_DIR:-} ]]; then
    version=$("llvm-config-$MK_LLVM" --version 2>/dev/null ||
              llvm-config --version 2>/dev/null || true)
    [[ $version == "$MK_LLVM".* ]] || mk_die \
      "LLVM $MK_LLVM is needed; found: ${version:-none}" \
      "on Debian 12, as root: apt-get update && apt-get install ${MK_PACKAGES[*]}" \
      "elsewhere: MK_CMAKE_ARGS=-DMLIR_DIR=<prefix>/lib/cmake/mlir $0"
  fi
  local tool
  for tool in cmake ninja; do
    command -v $tool >/dev/null || mk_die "$tool was not found" \
      "on Debian, as root: apt-get install cmake ninja-build"
  done
  # A build folder of a tree that has been moved is of no use.
  local new=0
  [[ -f $MK_BUILD_DIR/CMakeCache.txt ]] || new=1
  if ((!new)) &&
     ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$MK_ROOT" "$MK_BUILD_DIR/CMakeCache.txt"; then
    args+=(--fresh)
    new=1
  fi
  # A new build compiles several sources as one unit: half of the time. Who works on the
  # code configures with a preset first, or with -DCMAKE_UNITY_BUILD=OFF. clang takes two
  # thirds of g++'s time; CC and CXX choose another compiler.
  if ((new)); then
    args+=(-DCMAKE_UNITY_BUILD=ON)
    if [[ -z ${CC:-}${CXX:-} ]] && type -P "clang++-$MK_LLVM" >/dev/null; then
      args+=("-DCMAKE_C_COMPILER=clang-$MK_LLVM" "-DCMAKE_CXX_COMPILER=clang++-$MK_LLVM")
    fi
  fi
  # shellcheck disable=SC2086
  if ! log=$(cmake -S "$MK_ROOT" -B "$MK_BUILD_DIR" -G Ninja "${args[@]}" \
                   ${MK_CMAKE_ARGS:-} 2>&1); then
    printf '%s\n' "$log" >&2
    mk_die "CMake failed; its reason is above" \
      "if it says nothing of use: rm -r $MK_BUILD_DIR, then run this again"
  fi
  printf '%s\n' "$log" | grep -A3 '^CMake Warning' || true
}

# mk_build TARGET...
mk_build() {
  ninja -C "$MK_BUILD_DIR" -j "$(mk_jobs)" "$@" ||
    mk_die "the build failed; the first error is above" \
      "if the compiler was killed, memory ran out: MK_JOBS=1 $0"
}
