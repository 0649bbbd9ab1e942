# shellcheck shell=bash disable=SC2034
# Builds the soft-iWARP module, which Debian's kernels leave out, for a guest's
# kernel: from the kernel's own source package, with the headers of exactly that
# kernel.

# The kernels that siw is built for. A module wants the compiler generation of its
# kernel, so both come from the release whose compiler is the oldest.
SIW_KERNELS=(6.1 6.12)

# siw_suite SERIES prints the Debian suite to take a kernel with siw from.
siw_suite() {
	[[ ${ARCH:-amd64} == amd64 ]] || die -s 2 "siw is built for amd64 only"
	case $1 in
	6.1) echo bookworm ;;
	6.12) echo bookworm-backports ;;
	*) die -s 2 "siw is built for the kernels ${SIW_KERNELS[*]}, not for $1" ;;
	esac
}

# build_siw DIR SERIES SUITE adds siw.ko to the modules in DIR/tree and has it
# loaded in the guest.
build_siw() {
	local dir=$1 series=$2 suite=$3 build release headers module
	require make gcc ld strip
	# make knows no path with a space in it.
	build=$(mktemp -d /tmp/rdma-siw.XXXXXX)
	release=$(basename "$(find "$dir/tree/usr/lib/modules/" -mindepth 1 -maxdepth 1 -type d -print -quit)")
	siw_headers "$build" "$suite" "$series" "$release"
	siw_source "$build" "$suite" "$series" "$release"
	headers=$build/usr/src/linux-headers-$release
	module=$build/drivers/infiniband/sw/siw
	say "building siw for $release"
	# A module without type information loads too; pahole, which makes it, is
	# needed nowhere else.
	if ! make -C "$headers" M="$module" CC="$(siw_compiler "$headers")" CONFIG_RDMA_SIW=m \
		CONFIG_DEBUG_INFO_BTF_MODULES= -j"$(nproc)" modules >"$build/make.log" 2>&1; then
		tail -n 15 "$build/make.log" >&2
		die "cannot build siw for $release"
	fi
	strip -g "$module/siw.ko"
	install -D -m 0644 "$module/siw.ko" "$dir/tree/usr/lib/modules/$release/extra/siw.ko"
	rm -rf "$build"
	# siw asks the kernel's crypto library for crc32c by name.
	RDMA_LOAD+=(crc32c_generic siw)
}

# siw_headers BUILD SUITE SERIES RELEASE unpacks what modules are built with.
siw_headers() {
	local build=$1 suite=$2 series=$3 release=$4 abi kbuild deb
	abi=${release%-*}
	kbuild=linux-kbuild-$abi
	apt_names "$suite" | grep -qxF "$kbuild" || kbuild=linux-kbuild-$series
	apt_download "$suite" "$build" "linux-headers-$release" "linux-headers-$abi-common" "$kbuild"
	for deb in "$build"/*.deb; do
		dpkg-deb -x "$deb" "$build"
	done
	# They are not installed where their makefile expects them.
	sed -i "s,/usr/src/,$build/usr/src/," "$build/usr/src/linux-headers-$release/Makefile"
}

# siw_source BUILD SUITE SERIES RELEASE unpacks siw's source of the headers' version.
siw_source() {
	local build=$1 suite=$2 series=$3 release=$4 version
	version=$(dpkg-deb -f "$build"/linux-headers-"$release"_*.deb Version)
	apt_download "$suite" "$build" "linux-source-$series=$version"
	dpkg-deb --fsys-tarfile "$build"/linux-source-*.deb |
		tar -x -O --wildcards './usr/src/linux-source-*.tar.xz' |
		tar -x -J -C "$build" --strip-components=1 --wildcards '*/drivers/infiniband/sw/siw'
}

# siw_compiler HEADERS prints the compiler that built the kernel, or the machine's own.
siw_compiler() {
	local name
	name=$(sed -nE 's/^CC .*\)(gcc-[0-9]+)$/\1/p' "$1/.kernelvariables")
	if [[ -n $name ]] && have "$name"; then
		echo "$name"
	else
		echo gcc
	fi
}
