# shellcheck shell=bash disable=SC2034
# Fetches stock distribution kernels and prepares them for booting.

# All kernels that the tests know, oldest first.
KERNELS=(5.10 6.1 6.12 6.18 7.3)

# SIW=1: kernels with the soft-iWARP module, see siw.sh.
SIW=${RDMA_VM_SIW:-0}

# suite_of SERIES prints the Debian suite that has the kernel.
suite_of() {
	if ((SIW)); then
		siw_suite "$1"
		return
	fi
	case $1 in
	5.10) echo bullseye ;;
	6.1) echo bookworm ;;
	6.12) echo trixie ;;
	6.18 | 7.3) echo trixie-backports ;;
	machine) echo machine ;;
	*) die -s 2 "unknown kernel $1; known: ${KERNELS[*]}" ;;
	esac
}

# default_kernel prints the series to use when none is asked for: the newest
# where a Debian archive is at hand, else the machine's own distribution kernel.
# On other processors than amd64 one kernel is tested.
default_kernel() {
	if [[ $ARCH != amd64 ]]; then
		echo 6.1
	elif [[ -n ${RDMA_VM_MIRROR:-} || $(os_release ID) == debian ]]; then
		echo "${KERNELS[-1]}"
	else
		echo machine
	fi
}

# kernel_packages SERIES prints the packages that make up the newest kernel of
# the series. Newer kernels are split: linux-binary has the image, linux-modules
# the modules.
kernel_packages() {
	local series=$1 suite names name version
	suite=$(suite_of "$series")
	names=$(apt_names "$suite")
	if [[ $series == machine ]]; then
		machine_kernel_packages "$names"
		return
	fi
	name=$(grep -E "^linux-(image|binary)-${series//./\\.}\.[^-]*(-[0-9]+)?-$ARCH\$" <<<"$names" |
		sed -E 's/^linux-(image|binary)-//' | sort -uV | tail -n 1 || true)
	[[ -n $name ]] || die "the archive's $suite has no kernel $series"
	version=$name
	if grep -qxF "linux-modules-$version" <<<"$names"; then
		echo "linux-binary-$version linux-modules-$version"
	else
		echo "linux-image-$version"
	fi
}

# machine_kernel_packages NAMES: this distribution's own kernel. Ubuntu's has
# rdma_rxe in a package of extra modules.
machine_kernel_packages() {
	local version
	version=$(newest "$1" linux-modules-extra- generic)
	if [[ -n $version ]]; then
		echo "linux-image-$version linux-modules-$version linux-modules-extra-$version"
		return
	fi
	version=$(newest "$1" linux-image- "$ARCH")
	[[ -n $version ]] || die "this machine's archive has no kernel with RDMA modules; set RDMA_VM_MIRROR to a Debian archive"
	echo "linux-image-$version"
}

# newest NAMES PREFIX FLAVOUR prints the newest version among package names.
newest() {
	grep -oP "^$2\K[0-9][^-]*(-[0-9]+)?-$3\$" <<<"$1" | sort -V | tail -n 1 || true
}

# Raised whenever the contents of a prepared kernel folder change.
KERNEL_FORMAT=4

# fetch_kernel SERIES prints a folder with vmlinux, release, and modules: rdma.cpio,
# net.cpio, and lines.cpio with what the guest's serial lines need, if anything.
# It makes the folder when it is not there, and looks once a week for a newer kernel of
# the series.
fetch_kernel() {
	local name dir
	name=$(for_arch "$1")
	((!SIW)) || name+=-siw
	dir=$CACHE/kernels/$name.$KERNEL_FORMAT
	fresh "$dir" || with_lock "kernel-$name" prepare_kernel "$1" "$dir" >&2
	printf '%s' "$dir"
}

# fresh DIR: the kernel is there, and a newer one was looked for in the last week.
fresh() { [[ -e $1/release && -n $(find "$1/looked" -mtime -7 2>/dev/null) ]]; }

prepare_kernel() {
	local series=$1 dir=$2 tmp suite packages
	! fresh "$dir" || return 0
	require xz zstd cpio depmod dpkg-deb apt-get
	suite=$(suite_of "$series")
	with_lock "apt-$suite" apt_lists "$suite"
	packages=$(kernel_packages "$series")
	if [[ -e $dir/release && $packages == "$(cat "$dir/packages" 2>/dev/null)" ]]; then
		touch "$dir/looked"
		return
	fi
	mkdir -p "$CACHE/kernels"
	tmp=$(mktemp -d "$CACHE/kernels/tmp.XXXXXX")
	# shellcheck disable=SC2064
	trap "rm -rf '$tmp'" EXIT
	# shellcheck disable=SC2086
	apt_download "$suite" "$tmp" $packages
	unpack_kernel "$tmp"
	((!SIW)) || build_siw "$tmp" "$series" "$suite"
	build_modules "$tmp"
	rm -rf "$tmp"/{tree,image,*.deb,*.log}
	echo "$packages" >"$tmp/packages"
	touch "$tmp/looked"
	[[ ! -e $dir ]] || mv "$dir" "$tmp.old"
	mv "$tmp" "$dir"
	rm -rf "$tmp.old"
}

# unpack_kernel DIR: from the .deb files, DIR/vmlinux and DIR/tree/lib/modules.
unpack_kernel() {
	local dir=$1 deb image
	mkdir -p "$dir/tree/usr/lib"
	ln -s usr/lib "$dir/tree/lib"
	for deb in "$dir"/*.deb; do
		# Graphics, sound and the like are most of the size and of no use here.
		dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$dir/tree" --keep-directory-symlink \
			--exclude='*/kernel/drivers/gpu' --exclude='*/kernel/drivers/media' \
			--exclude='*/kernel/sound' --exclude='*/kernel/drivers/net/wireless' \
			--exclude='*/kernel/drivers/scsi' --exclude='*/kernel/drivers/usb' \
			--exclude='./usr/share' --exclude='./etc'
	done
	image=$(find "$dir/tree/" -name 'vmlinuz*' -type f -print -quit)
	[[ -n $image ]] || die "no kernel image in the package"
	unpack_image "$image" "$dir/vmlinux"
}

# unpack_image VMLINUZ OUT: QEMU boots the uncompressed kernel directly when it
# has a PVH entry, which saves seconds; otherwise the image is kept as it is.
unpack_image() {
	local image=$1 out=$2 offset
	if [[ $ARCH != amd64 ]]; then
		cp "$image" "$out"
		return
	fi
	# shellcheck disable=SC2013
	for offset in $(LC_ALL=C grep -obUaP '\xFD7zXZ\x00|\x28\xB5\x2F\xFD' "$image" | cut -d: -f1); do
		if [[ $(dd if="$image" bs=1 skip="$offset" count=1 status=none) == '(' ]]; then
			tail -c "+$((offset + 1))" "$image" | zstd -dcq >"$out" 2>/dev/null || true
		else
			tail -c "+$((offset + 1))" "$image" | xz -dcq --single-stream >"$out" 2>/dev/null || true
		fi
		# An ELF note of the owner Xen and the type 18 holds the PVH entry.
		if [[ $(head -c 4 "$out" | tr -d '\177') == ELF ]] &&
			LC_ALL=C grep -qUaP '\x04\x00{3}[\x04\x08]\x00{3}\x12\x00{3}Xen\x00' "$out"; then
			return
		fi
	done
	cp "$image" "$out"
}

# Modules that are loaded at boot, and those that only have to be at hand. A
# kernel may have some of them built in or not at all.
RDMA_LOAD=(crc32_generic ib_uverbs rdma_ucm rdma_rxe)
NET_LOAD=(virtio_pci virtio_net veth)
RDMA_MORE=(ib_umad)
NET_MORE=(dummy bridge bonding 8021q macvlan sch_netem crc32c_generic nf_tables nft_counter tun)

# build_modules DIR: DIR/rdma.cpio, DIR/net.cpio with what DIR/*.load names.
build_modules() {
	local dir=$1 version
	version=$(basename "$(find "$dir/tree/usr/lib/modules/" -mindepth 1 -maxdepth 1 -type d -print -quit)")
	# The lists of built-in modules are in another package; depmod warns.
	depmod -b "$dir/tree" "$version" 2>/dev/null
	local lines=()
	read -ra lines <<<"$(line_modules)"
	((!${#lines[@]})) || build_module_set "$dir" lines "$version" "${lines[@]}" --
	NET_LOAD+=("${lines[@]}")
	build_module_set "$dir" net "$version" "${NET_LOAD[@]}" -- "${NET_MORE[@]}"
	build_module_set "$dir" rdma "$version" "${NET_LOAD[@]}" "${RDMA_LOAD[@]}" -- "${NET_MORE[@]}" "${RDMA_MORE[@]}"
	echo "$version" >"$dir/release"
}

# build_module_set DIR SET VERSION LOAD… -- MORE…
build_module_set() {
	local dir=$1 set=$2 version=$3 name load=1
	shift 3
	local from=$dir/tree/usr/lib/modules/$version image=$dir/image/$set
	local to=$image/usr/lib/modules/$version
	mkdir -p "$to"
	: >"$dir/$set.load"
	for name in "$@"; do
		if [[ $name == -- ]]; then
			load=0
		elif closure "$from/modules.dep" "$name" >>"$dir/$set.files"; then
			((load)) && echo "$name" >>"$dir/$set.load"
		fi
	done
	local file plain
	while read -r file; do
		plain=$to/${file%.[xz]*}
		mkdir -p "${plain%/*}"
		case $file in
		*.xz) xz -dc "$from/$file" >"$plain" ;;
		*.zst) zstd -dcq "$from/$file" >"$plain" ;;
		*) cp "$from/$file" "$plain" ;;
		esac
	done < <(sort -u "$dir/$set.files")
	sort -u "$dir/$set.files" | awk 'NR == FNR { want[$1 ":"] = 1; next } $1 in want' - "$from/modules.dep" |
		sed -E 's/\.ko\.(xz|zst)/.ko/g' >"$to/modules.dep"
	# Aliases of the modules in the image only.
	sed -E 's,.*/,,; s/\.ko.*//; s/-/_/g' "$dir/$set.files" | sort -u |
		awk 'NR == FNR { want[$1] = 1; next } $3 in want' - "$from/modules.alias" >"$to/modules.alias"
	mkdir -p "$image/vm"
	cp "$dir/$set.load" "$image/vm/load"
	pack "$image" "$dir/$set.cpio"
	rm -f "$dir/$set.files" "$dir/$set.load"
}

# closure MODULES.DEP NAME prints the files of a module and of all it needs; it
# fails when the kernel has no such module.
closure() {
	awk -v name="$2" '
		{ file = $1; sub(/:$/, "", file); base = file; sub(/.*\//, "", base); sub(/\.ko.*/, "", base); gsub(/-/, "_", base) }
		base == name { print file; for (i = 2; i <= NF; i++) print $i; found = 1 }
		END { exit !found }' "$1"
}
