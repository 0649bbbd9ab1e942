# shellcheck shell=bash disable=SC2034
# Takes C tools along into the guest.

# tools_cpio PACKAGE… prints the path of an archive that holds the packages of
# this machine's release and everything they depend on.
tools_cpio() {
	local key out list=()
	IFS=', ' read -ra list <<<"$*"
	key=$(printf '%s\n' "$TOOLS_FORMAT" "$(for_arch "$(machine_codename)")" "${list[@]}" | sort -u | sha256sum | cut -c1-16)
	out=$CACHE/tools/$key.cpio
	[[ -s $out ]] || with_lock "tools-$key" build_tools "$out" "${list[@]}" >&2
	printf '%s' "$out"
}

TOOLS_FORMAT=2

build_tools() {
	local out=$1 tmp deb
	shift
	[[ -s $out ]] && return
	require dpkg-deb apt-get cpio
	with_lock apt-machine apt_lists machine
	mkdir -p "${out%/*}"
	tmp=$(mktemp -d "${out%/*}/tmp.XXXXXX")
	# shellcheck disable=SC2064
	trap "rm -rf '$tmp'" EXIT
	# libibverbs only recommends its providers, and rping aborts at its end
	# without libgcc_s (pthread_exit).
	apt_download_closure machine "$tmp" "$@" ibverbs-providers libgcc-s1
	make_layout "$tmp/tree"
	for deb in "$tmp"/*.deb; do
		dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$tmp/tree" --keep-directory-symlink \
			--exclude='./usr/share/doc' --exclude='./usr/share/man' --exclude='./usr/share/locale' \
			--exclude='./usr/share/info' --exclude='./usr/lib/*/gconv' --exclude='./usr/share/i18n'
	done
	# Debian's mawk and dash come as alternatives or diversions.
	[[ -e $tmp/tree/usr/bin/dash && ! -e $tmp/tree/usr/bin/sh ]] && ln -s dash "$tmp/tree/usr/bin/sh"
	pack "$tmp/tree" "$out.new"
	mv "$out.new" "$out"
}

# apt_download_closure SUITE FOLDER PACKAGE… puts the packages and all they
# depend on into the folder; the private apt state knows no installed package.
apt_download_closure() {
	local suite=$1 folder=$2 log=$2/download.log
	shift 2
	say "downloading $* and what they depend on"
	mkdir -p "$folder/archives/partial"
	if ! private_apt "$suite" apt-get install -y --download-only --no-install-recommends \
		-o Dir::Cache::archives="$folder/archives" -o Debug::NoLocking=1 "$@" >"$log" 2>&1; then
		tail -n 5 "$log" >&2
		die "cannot download $*"
	fi
	mv "$folder"/archives/*.deb "$folder/"
}
