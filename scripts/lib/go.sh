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
	GOTOOLCHAIN=${GOTOOLCHAIN:-auto}
	export PATH GOTOOLCHAIN GO_READY=1
	# Modules come over TLS.
	if [[ -z ${SSL_CERT_FILE:-} ]] && have apt-get && ! compgen -G '/etc/ssl/certs/*' >/dev/null; then
		with_lock install install_packages ca-certificates
	fi
}

fetch_go() {
	local dir=$1 tmp suite=$GO_SUITE version deb ARCH
	[[ -x $dir/bin/go ]] && return
	require dpkg-deb xz
	ARCH=$(dpkg --print-architecture)
	[[ -n $(debian_mirror) ]] || suite=machine
	with_lock "apt-$suite" apt_lists "$suite"
	version=$(go_package "$suite")
	say "no Go $(go_wanted) here; taking the package golang-$version-go (into the cache, nothing is installed)"
	mkdir -p "${dir%/*}"
	tmp=$(mktemp -d "${dir%/*}/tmp.XXXXXX")
	# shellcheck disable=SC2064
	trap "rm -rf '$tmp'" EXIT
	apt_download "$suite" "$tmp" "golang-$version-go" "golang-$version-src"
	for deb in "$tmp"/*.deb; do
		dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$tmp" --exclude=./usr/share/doc
	done
	rm -f "$tmp"/*.deb
	ln -s "usr/lib/go-$version/bin" "$tmp/bin"
	rm -rf "$dir"
	mv "$tmp" "$dir"
}

# go_package SUITE prints the version to take: the wanted one, else the newest
# that can fetch the wanted one by itself.
go_package() {
	local names wanted newest
	wanted=$(go_wanted | cut -d. -f1,2)
	names=$(apt_names "$1")
	if grep -qx "golang-$wanted-go" <<<"$names"; then
		echo "$wanted"
		return
	fi
	newest=$(grep -oP '^golang-\K1\.[0-9]+(?=-go$)' <<<"$names" | sort -V | tail -n 1 || true)
	if [[ -z $newest || ${newest#1.} -lt 21 ]]; then
		die "no usable Go in this machine's archive; install Go $wanted from https://go.dev/dl"
	fi
	echo "$newest"
}
