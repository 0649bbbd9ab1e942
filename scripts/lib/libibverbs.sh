# shellcheck shell=bash
# Builds C programs with libibverbs.

# fetch_libibverbs puts header and library of this machine's release, which the
# guest's tools come from too, into a folder of the cache.
fetch_libibverbs() {
	local dir=$1 tmp deb
	[[ -d $dir ]] && return
	with_lock apt-machine apt_lists machine
	mkdir -p "${dir%/*}"
	tmp=$(mktemp -d "${dir%/*}/tmp.XXXXXX")
	# shellcheck disable=SC2064
	trap "rm -rf '$tmp'" EXIT
	apt_download machine "$tmp" libibverbs-dev libibverbs1
	for deb in "$tmp"/*.deb; do
		dpkg-deb -x "$deb" "$tmp/tree"
	done
	mv "$tmp/tree" "$dir"
}

# build_with_libibverbs PROGRAM SOURCE
build_with_libibverbs() {
	local dir lib
	dir=$CACHE/libibverbs/$(machine_codename)
	[[ -d $dir ]] || with_lock libibverbs fetch_libibverbs "$dir" >&2
	lib=$(find "$dir/usr/lib" -name libibverbs.so.1 -print -quit)
	# -rdynamic: the provider, which is loaded at run time, must find functions
	# that the program has in place of libc's.
	cc -O2 -Wall -rdynamic -I"$dir/usr/include" -o "$1" "$2" "$lib" -Wl,--allow-shlib-undefined
}
