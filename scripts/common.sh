# Sourced by scripts/quickstart, scripts/test, tests/package/run and .ci/run. Bash, `set -euo pipefail`.

checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build="$checkout/build"
deps="$checkout/.deps"
export CCACHE_NOHASHDIR=1  # the same sources and flags are the same in another folder: tests/package builds ddpkit there again

build_packages=(g++ cmake ninja-build libopenmpi-dev openmpi-bin libyaml-cpp-dev libspdlog-dev nlohmann-json3-dev libcli11-dev
  zlib1g-dev libxxhash-dev libeigen3-dev python3 python3-venv)
benchmark_packages=("${build_packages[@]}" libbenchmark-dev dataset-fashion-mnist)

say() { printf '\n== %s\n' "$*"; }
die() { printf '%s\n' "$*" >&2; exit 1; }

# retry COMMAND...: three tries, for downloads.
retry() {
  local try
  for try in 1 2 3; do
    "$@" && return
    [ "$try" = 3 ] || { echo "failed, trying again in $((try * 5)) s: $*" >&2; sleep $((try * 5)); }
  done
  return 1
}

# install_packages NAME...: installs what is missing when this user may, otherwise prints the line to run and ends.
install_packages() {
  command -v dpkg-query > /dev/null || { echo "not a Debian system: expecting to find $*"; return 0; }
  local name sudo missing=()
  for name in "$@"; do
    dpkg-query -W -f '${Status}' "$name" 2> /dev/null | grep -q 'ok installed' || missing+=("$name")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ "$(id -u)" = 0 ]; then
    sudo=(env)
  elif sudo -n true 2> /dev/null; then
    sudo=(sudo -n env)
  else
    die "packages are missing and this user may not install them; run
    sudo apt-get update && sudo apt-get install -y --no-install-recommends ${missing[*]}
and then this script again"
  fi
  say "installing ${missing[*]}"
  retry "${sudo[@]}" apt-get -q update < /dev/null > /dev/null
  retry "${sudo[@]}" DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends "${missing[@]}" < /dev/null > /dev/null
}

# Whether the user has named a LibTorch, in one of the ways that cmake/FindLibTorch.cmake follows.
libtorch_given() {
  local prefix probe=share/cmake/Torch/TorchConfig.cmake IFS=:
  for prefix in ${LibTorch_ROOT:-} ${Torch_ROOT:-} ${CMAKE_PREFIX_PATH:-}; do
    compgen -G "$prefix/$probe" > /dev/null && return
    compgen -G "$prefix/../../$probe" > /dev/null && return
    compgen -G "$prefix/lib/python3*/site-packages/torch/$probe" > /dev/null && return
  done
  return 1
}

# A Python that has wheels of LibTorch and can make virtual environments.
find_python() {
  local python
  for python in python3 /usr/bin/python3 python3.13 python3.12 python3.11 python3.10; do
    "$python" -c 'import ensurepip, sys, venv; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 13))' 2> /dev/null || continue
    echo "$python"
    return
  done
  die "no Python between 3.10 and 3.13 with the module venv was found; install python3 and python3-venv, or point CMAKE_PREFIX_PATH at a LibTorch"
}

# Puts the pinned LibTorch into .deps/libtorch unless the user has one or it is there. A half-done one never has that name.
ensure_libtorch() {
  local pins="$checkout/third_party/requirements.txt"
  libtorch_given && return
  cmp -s "$pins" "$deps/libtorch/requirements.txt" && return
  say "downloading LibTorch into .deps (540 MB, 1.3 GB unpacked)"
  rm -rf "$deps/libtorch" "$deps/libtorch.partial"
  "$(find_python)" -m venv "$deps/libtorch.partial"
  retry "$deps/libtorch.partial/bin/python" -m pip install --quiet --disable-pip-version-check --no-input \
    --no-deps --require-hashes --only-binary=:all: -r "$pins" < /dev/null
  cp "$pins" "$deps/libtorch.partial/requirements.txt"
  mv "$deps/libtorch.partial" "$deps/libtorch"
}

# How many compilers fit: one a core, and 2.5 GiB each for LibTorch's headers.
build_jobs() {
  local cores memory_kib
  cores=$(nproc)
  memory_kib=$(awk '/^MemAvailable:/ {print $2}' /proc/meminfo)
  local fit=$((memory_kib / 2621440))
  [ "$fit" -ge 1 ] || fit=1
  echo $((fit < cores ? fit : cores))
}

# configure OPTION...: the build folder with what is found; a second time takes a moment.
configure() {
  say "configuring $build"
  cmake -S "$checkout" -B "$build" -G Ninja "$@"
}

# What Open MPI needs to start as root, in a container and with more ranks than cores.
export_mpi_environment() {
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1
  export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader,tcp
}
