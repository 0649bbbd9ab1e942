# shellcheck shell=bash disable=SC2034
# Downloads from a package archive through apt, with a configuration of its own:
# nothing of the machine's apt state is read or changed except its sources (for
# the mirror's address) and its proxy settings.

# os_release FIELD
os_release() {
	local ID='' VERSION_CODENAME='' UBUNTU_CODENAME=''
	# shellcheck disable=SC1091
	[[ -r /etc/os-release ]] && . /etc/os-release
	printf '%s' "${!1:-}"
}

# machine_codename prints the name of this machine's release; systems made from
# Ubuntu have its name beside their own.
machine_codename() {
	local name
	name=$(os_release UBUNTU_CODENAME)
	[[ -n $name ]] || name=$(os_release VERSION_CODENAME)
	printf '%s' "$name"
}

# machine_mirror prints the address of the archive this machine installs from.
machine_mirror() {
	# shellcheck disable=SC2016
	apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 2>/dev/null |
		awk -v c="$(machine_codename)" \
			'$3 == "main" && ($2 == c || $2 ~ /^(stable|oldstable|testing|unstable|sid)$/) && !n++ { print $1 }'
}

# debian_mirror prints the address of a Debian archive, or nothing.
debian_mirror() {
	if [[ -n ${RDMA_VM_MIRROR:-} ]]; then
		printf '%s' "$RDMA_VM_MIRROR"
	elif [[ $(os_release ID) == debian ]]; then
		machine_mirror
	fi
}

debian_keyring() {
	local k=/usr/share/keyrings/debian-archive-keyring.gpg
	[[ -r $k ]] || with_lock install install_packages debian-archive-keyring
	printf '%s' "$k"
}

# machine_sources prints apt sources for this machine's own release.
machine_sources() {
	local mirror codename
	codename=$(machine_codename)
	mirror=$(machine_mirror)
	[[ -n $mirror ]] || die "cannot find the package archive in this machine's apt sources"
	if [[ -n $(os_release UBUNTU_CODENAME) ]]; then
		printf "deb [arch=$ARCH target=Packages] %s %s main universe\n" "$mirror" "$codename" "$mirror" "$codename-updates"
	else
		echo "deb [arch=$ARCH target=Packages] $mirror $codename main"
	fi
}

# apt_dir SUITE prints the folder of the private apt state of a suite and the
# processor $ARCH, and makes it. "machine" is the machine's own release.
apt_dir() {
	local suite=$1 dir
	dir=$CACHE/apt/$(for_arch "$1")
	mkdir -p "$dir"/{lists/partial,archives/partial,empty.d}
	: >"$dir/status"
	: >"$dir/empty"
	if [[ $suite == machine ]]; then
		machine_sources >"$dir/sources.list"
	else
		local mirror keyring
		mirror=$(debian_mirror)
		[[ -n $mirror ]] || die "no Debian archive in this machine's apt sources; set RDMA_VM_MIRROR to the address of one"
		keyring=$(debian_keyring)
		echo "deb [arch=$ARCH target=Packages signed-by=$keyring] $mirror $suite main" >"$dir/sources.list"
	fi
	printf '%s' "$dir"
}

# archived SUITE: the suite gets no updates any more, so the date until which its
# Release file is valid may have passed.
archived() { [[ $1 == bullseye ]]; }

# private_apt SUITE TOOL ARGS… runs apt-get or apt-cache on the private state.
private_apt() {
	local dir tool=$2 dated=true
	dir=$(apt_dir "$1")
	! archived "$1" || dated=false
	shift 2
	"$tool" -q \
		-o Dir::State="$dir" -o Dir::State::lists="$dir/lists" -o Dir::State::status="$dir/status" \
		-o Dir::Cache="$dir" -o Dir::Cache::archives="$dir/archives" \
		-o Dir::Etc::sourcelist="$dir/sources.list" -o Dir::Etc::sourceparts="$dir/empty.d" \
		-o Dir::Etc::preferences="$dir/empty" -o Dir::Etc::preferencesparts="$dir/empty.d" \
		-o APT::Architecture="$ARCH" -o APT::Architectures="$ARCH" -o APT::Sandbox::User= \
		-o Acquire::Languages=none -o Acquire::Check-Valid-Until="$dated" -o Acquire::Retries=3 \
		-o APT::Update::Post-Invoke-Success::= -o APT::Get::List-Cleanup=false \
		"$@"
}

# apt_lists SUITE makes sure that the package lists of the suite are there and
# at most a day old. An old list is better than none.
apt_lists() {
	local suite=$1 dir log
	dir=$(apt_dir "$suite")
	[[ -n $(find "$dir/updated" -mmin -1440 2>/dev/null) ]] && return
	say "fetching the package list of ${suite}"
	log=$dir/update.log
	if private_apt "$suite" apt-get update >"$log" 2>&1 && ! grep -q '^E:' "$log"; then
		touch "$dir/updated"
	elif [[ ! -e $dir/updated ]]; then
		tail -n 5 "$log" >&2
		die "cannot fetch the package list of $suite"
	fi
}

# apt_names SUITE prints the names of all packages of the suite.
apt_names() {
	private_apt "$1" apt-cache pkgnames
}

# apt_download SUITE FOLDER PACKAGE… puts the .deb files into the folder.
apt_download() {
	local suite=$1 folder=$2 log=$2/download.log
	shift 2
	say "downloading $*"
	if ! (cd "$folder" && private_apt "$suite" apt-get download "$@") >"$log" 2>&1; then
		tail -n 5 "$log" >&2
		die "cannot download $* from $suite"
	fi
}
