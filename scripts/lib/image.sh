# shellcheck shell=bash disable=SC2034
# Builds initial RAM disks.

# pack FOLDER FILE writes an uncompressed cpio archive. The kernel takes several
# in one file; their length has to be a multiple of four, cpio pads to 512.
pack() {
	(cd "$1" && find . -mindepth 1 | LC_ALL=C sort | cpio -o -H newc -R +0:+0 --quiet) >"$2"
}

# make_layout FOLDER: all parts of the RAM disk use the merged layout, because a
# later part that has a folder /lib would replace the link of an earlier one.
make_layout() {
	mkdir -p "$1"/usr/{bin,sbin,lib,lib64}
	ln -s usr/bin usr/sbin usr/lib usr/lib64 "$1/"
}

# guest_init prints the path of the guest's init program, and builds it when its
# source has changed.
guest_init() {
	local key out
	require_go
	key=$ARCH-$(cat "$ROOT"/integration/guest/*_linux.go "$ROOT/go.sum" "$ROOT/scripts/lib/image.sh" | sha256sum | cut -c1-16)
	out=$CACHE/guest/$key/init
	if [[ ! -x $out ]]; then
		mkdir -p "${out%/*}"
		with_lock guest build_guest "$out"
	fi
	printf '%s' "$out"
}

build_guest() {
	[[ -x $1 ]] && return
	local new=$1.$$
	# The caller may be "go test" with settings for another target.
	env -u GOFLAGS GOOS=linux GOARCH="$ARCH" CGO_ENABLED=0 GOWORK=off \
		go -C "$ROOT" build -trimpath -buildvcs=false -ldflags '-s -w' -o "$new" ./integration/guest >&2 ||
		die "cannot build the guest's init program"
	mv "$new" "$1"
}

# guest_cpio prints the path of the archive with the init program, which is also
# the kernel's modprobe.
guest_cpio() {
	local init dir
	init=$(guest_init)
	dir=${init%/init}
	[[ -s $dir/guest.cpio ]] || with_lock guest pack_guest "$dir"
	printf '%s' "$dir/guest.cpio"
}

pack_guest() {
	local dir=$1
	[[ -s $dir/guest.cpio ]] && return
	rm -rf "$dir/image"
	make_layout "$dir/image"
	ln "$dir/init" "$dir/image/init"
	ln -s ../../init "$dir/image/usr/sbin/modprobe"
	pack "$dir/image" "$dir/guest.cpio.new"
	rm -rf "$dir/image"
	mv "$dir/guest.cpio.new" "$dir/guest.cpio"
}

# add_file IMAGE SRC DST copies a file or folder of the host into the image.
add_file() {
	local image=$1 src=$2 dst=$3
	[[ -e $src ]] || die -s 2 "no such file: $src"
	[[ $dst =~ ^/(bin|sbin|lib|lib64)/ ]] && dst=/usr$dst
	mkdir -p "$image/$(dirname "$dst")"
	cp -rL --reflink=auto "$src" "$image/$dst"
}

# add_libraries IMAGE BINARY copies the libraries of a dynamically linked binary
# to the places where its loader looks for them.
add_libraries() {
	local image=$1 lib
	for lib in $(ldd "$2" 2>/dev/null | grep -oE '/[^ ]+'); do
		add_file "$image" "$lib" "$lib"
	done
}

# write_list FILE STRING… writes NUL-terminated strings.
write_list() {
	local file=$1
	shift
	if (($#)); then printf '%s\0' "$@" >"$file"; else : >"$file"; fi
}
