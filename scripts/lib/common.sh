# shellcheck shell=bash disable=SC2034
# Helpers that every script sources.
# Sets: ROOT (the checkout), CACHE (downloads, outside the checkout).

set -euo pipefail
shopt -s inherit_errexit

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

# home prints this user's home directory; HOME may be unset, as in some services.
home() {
	local dir=${HOME:-}
	[[ -n $dir ]] || dir=$(getent passwd "$(id -u)" | cut -d: -f6)
	printf '%s' "${dir:-${TMPDIR:-/tmp}/home-$(id -u)}"
}

CACHE=${XDG_CACHE_HOME:-$(home)/.cache}/purerdma-rdma
PROG=${0##*/}
# Processors of guests, as Debian and Go name them, and the one to use.
ARCHES=(amd64 arm64 s390x)
ARCH=amd64

# say MESSAGE… prints a line for the user; results go to standard output, this does not.
say() { printf '%s: %s\n' "$PROG" "$*" >&2; }

# die [-s STATUS] MESSAGE…
die() {
	local status=1
	if [[ $1 == -s ]]; then
		status=$2
		shift 2
	fi
	say "$@"
	exit "$status"
}

# for_arch NAME prints the name of a cached thing that depends on $ARCH.
for_arch() {
	if [[ $ARCH == amd64 ]]; then printf '%s' "$1"; else printf '%s-%s' "$1" "$ARCH"; fi
}

have() { command -v "$1" >/dev/null 2>&1; }

# start_group COMMAND… starts the command in the background, in a process group
# of its own, so that it can be ended with everything it starts; sets LEADER.
start_group() {
	set -m
	(
		set +m
		set -e
		"$@"
	) &
	LEADER=$!
	set +m
}

# end_groups ends what start_group started and is still there. The shell's own
# list of running jobs is asked, since numbers of ended processes are used again.
end_groups() {
	local leader
	for leader in $(jobs -pr); do
		kill -TERM -- "-$leader" 2>/dev/null || true
	done
	wait 2>/dev/null || true
}

# sweep removes what runs that were killed left in the cache and among temporary files.
sweep() {
	find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'rdma-*.??????' -user "$(id -u)" -mtime +0 -exec rm -rf {} + || true
	[[ ! -d $CACHE ]] || find "$CACHE" -mindepth 2 -maxdepth 2 -name 'tmp.*' -mtime +0 -exec rm -rf {} + || true
}

# with_lock NAME COMMAND… runs the command while no other process holds NAME.
with_lock() {
	local name=$1
	shift
	mkdir -p "$CACHE/locks"
	(
		flock 9
		"$@"
	) 9>"$CACHE/locks/$name"
}

# The commands the scripts call, and the Debian packages they come from.
package_of() {
	case $1 in
	qemu-system-x86_64) echo qemu-system-x86 ;;
	qemu-system-aarch64) echo qemu-system-arm ;;
	# A package of its own since trixie.
	qemu-system-s390x) one_of qemu-system-s390x qemu-system-misc ;;
	ld | strip) echo binutils ;;
	xz) echo xz-utils ;;
	depmod) echo kmod ;;
	flock) echo util-linux ;;
	ldd) echo libc-bin ;;
	cc) echo gcc libc6-dev ;;
	*) echo "$1" ;;
	esac
}

# one_of PACKAGE… prints the first one that the archive has, or the last.
one_of() {
	local name
	for name in "$@"; do
		if apt-cache pkgnames "$name" 2>/dev/null | grep -qxF "$name"; then break; fi
	done
	echo "$name"
}

# require COMMAND… makes sure that the commands exist. On Debian and Ubuntu it
# installs what is missing, elsewhere it says what is missing and ends.
require() {
	# depmod and friends live where a user's PATH may not look.
	PATH=$PATH:/usr/sbin:/sbin
	local c missing=() packages=()
	for c in "$@"; do
		have "$c" && continue
		missing+=("$c")
		read -ra p <<<"$(package_of "$c")"
		packages+=("${p[@]}")
	done
	((${#missing[@]})) || return 0
	if ! have apt-get; then
		die "missing: ${missing[*]}; install them (on Debian and Ubuntu this script does it itself)"
	fi
	with_lock install install_packages "${packages[@]}"
}

install_packages() {
	local sudo=()
	if [[ $(id -u) != 0 ]]; then
		have sudo || die "missing packages: $*; run as root: apt-get install $*"
		sudo=(sudo "--preserve-env=http_proxy,https_proxy,no_proxy")
		# A background step cannot ask for a password: sudo would wait for ever.
		[[ -t 0 ]] || sudo+=(-n)
		"${sudo[@]}" true || die "missing packages: $*; sudo asks for a password; run first: sudo apt-get install $*"
	fi
	say "installing packages: $*"
	local log
	log=$(mktemp)
	if ! { "${sudo[@]}" apt-get update -q &&
		"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends "$@"; } \
		</dev/null >"$log" 2>&1; then
		tail -n 20 "$log" >&2
		rm -f "$log"
		die "could not install: $*"
	fi
	rm -f "$log"
}
