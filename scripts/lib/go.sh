# shellcheck shell=bash disable=SC2034
# Finds or fetches a Go toolchain.

# The suite that has current Go packages; they run on older releases too.
GO_SUITE=trixie-backports

# go_wanted prints the minimum version, from go.mod: 1.26.0
go_wanted() { awk '$1 == "go" { print $2; exit }' "$ROOT/go.mod"; }

# go_is_new_enough: the go command can build this module, itself or by switching
# to a newer toolchain.
go_is_new_enough() {
	have go || return 1
	local version wanted
	wanted=$(go_wanted)
	version=$(cd "$ROOT" && GOTOOLCHAIN=${GOTOOLCHAIN:-auto} go env GOVERSION 2>/dev/null) || return 1
	version=${version#go}
	[[ $(printf '%s\n' "$wanted" "$version" | sort -V | head -n 1) == "$wanted" ]]
}

# require_go makes sure that a suitable go command is first in PATH. Where there
# is none, it unpacks Debian's into the cache; nothing is installed.
require_go() {
	local dir
	[[ -n ${GO_READY:-} ]] && return
	if ! go_is_new_enough; then
		dir=$CACHE/go/$(go_wanted)
		if [[ ! -x $dir/bin/go ]]; then
			have apt-get || die "needs Go $(go_wanted) or newer: install it from https://go.dev/dl"
			with_lock go fetch_go "$dir"
		fi
		PATH=$dir/bin:$PATH
	fi
	export PATH GO_READY=1
}

fetch_go() {
	local dir=$1 tmp wanted
	[[ -x $dir/bin/go ]] && return
	require dpkg-deb xz
	wanted=$(go_wanted | cut -d. -f1,2)
	say "no Go $wanted here; taking Debian's package (into the cache, nothing is installed)"
	[[ -n $(debian_mirror) ]] || exit 1
	with_lock "apt-$GO_SUITE" apt_lists "$GO_SUITE"
	mkdir -p "${dir%/*}"
	tmp=$(mktemp -d "${dir%/*}/tmp.XXXXXX")
	# shellcheck disable=SC2064
	trap "rm -rf '$tmp'" EXIT
	apt_download "$GO_SUITE" "$tmp" "golang-$wanted-go" "golang-$wanted-src"
	local deb
	for deb in "$tmp"/*.deb; do
		dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$tmp" --exclude=./usr/share/doc
	done
	rm -f "$tmp"/*.deb
	ln -s "usr/lib/go-$wanted/bin" "$tmp/bin"
	rm -rf "$dir"
	mv "$tmp" "$dir"
}
