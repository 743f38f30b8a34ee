# What ./run and ./test share: install the packages that are missing, configure, build. Sourced, never run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
ROOT=$PWD
BUILD_DIR=$ROOT/build
CORES=$(nproc)

say() { if [ -t 1 ]; then printf '\033[1m== %s\033[0m\n' "$*"; else printf '== %s\n' "$*"; fi; }
die() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; exit 1; }

wanted_packages() { sed -e 's/#.*//' -e '/^[[:space:]]*$/d' scripts/packages | tr -d ' \t'; }

# Names of wanted packages that dpkg does not hold as installed. Provides (pkg-config, say) count as installed.
missing_packages() {
  local name
  for name in $(wanted_packages); do
    # Node.js from elsewhere brings npm along, and Debian's npm would not go with it.
    [ "$name" != npm ] || ! command -v npm >/dev/null || continue
    dpkg-query -W -f '${db:Status-Status} ' "$name" 2>/dev/null | grep -qw installed || echo "$name"
  done
}

# Empty for root, "sudo -n" where that works without a question; otherwise fails.
elevate() {
  if [ "$(id -u)" = 0 ]; then return 0; fi
  command -v sudo >/dev/null && sudo -n true 2>/dev/null && echo "sudo -n"
}

apt_quiet() {
  local log; log=$(mktemp)
  if ! $1 env DEBIAN_FRONTEND=noninteractive apt-get -qq "${@:2}" >"$log" 2>&1; then
    cat "$log" >&2; rm -f "$log"
    return 1
  fi
  rm -f "$log"
}

install_packages() {
  command -v dpkg-query >/dev/null || die "this is not Debian; install the equivalents of scripts/packages, then: cmake --preset dev && cmake --build build"
  local missing as; missing=$(missing_packages | tr '\n' ' ')
  [ -n "$missing" ] || return 0
  as=$(elevate) || die "these packages are missing and installing them needs root. Run once, then try again:
  sudo apt-get install --no-install-recommends $missing"
  say "installing $missing"
  apt_quiet "$as" update || echo "$(basename "$0"): apt-get update failed; going on with the lists that are here" >&2
  # shellcheck disable=SC2086  # a list of names
  apt_quiet "$as" install -y --no-install-recommends $missing || die "apt-get could not install: $missing"
}

# Configures once; ninja re-runs cmake by itself when a CMake file changes.
build_all() {
  if [ ! -f "$BUILD_DIR/build.ninja" ]; then
    say "configuring"
    cmake --preset dev >/dev/null
  fi
  say "building on $CORES cores"
  NINJA_STATUS='[%f/%t %es] ' cmake --build "$BUILD_DIR" --parallel "$CORES"
}

set_up() { install_packages; build_all; }
