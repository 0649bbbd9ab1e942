# shellcheck shell=bash disable=SC2034
# The steps of scripts/test that run on other processors than this machine's:
# arm64, and s390x because its byte order is the other one. All run in $ROOT;
# $WORK is a scratch folder.

# The kernel they run on.
ARCH_KERNEL=6.1

# Objects, data, connections, and C programs at the other end.
ARCH_TESTS='^Test(Rxe|Verbs|Memory|Ucma|Discovery|Conn|Handshake|Listen|Dial|ID[A-Z]|Interop(Rping|Udaddy|Ucmatose|Pingpong))'

# check_arch ARCH: integration tests.
check_arch() {
	local arch=$1
	GOARCH=$arch CGO_ENABLED=0 go build -trimpath -buildvcs=false -o "$WORK/rdmaprobe-$arch" ./cmd/rdmaprobe
	GOARCH=$arch CGO_ENABLED=0 go test -c -o "$WORK/integration-$arch.test" ./integration
	in_guest "$ARCH_KERNEL" "$WORK/integration-$arch.test" --arch "$arch" \
		--file "$WORK/rdmaprobe-$arch:/usr/bin/rdmaprobe" --timeout 900 -- -test.timeout 14m -test.run "$ARCH_TESTS"
}

# check_arch_units ARCH: the unit tests, beside the sources that some of them read;
# the short ones, because the others build programs.
check_arch_units() {
	local arch=$1 tree=$WORK/tree-$1 package dir
	mkdir -p "$tree"
	tar -c --exclude=./.git . | tar -x -C "$tree"
	for package in $(go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' ./... | grep -v '/integration$'); do
		dir=$tree${package#"$(go list -m)"}
		GOARCH=$arch CGO_ENABLED=0 go test -c -o "$dir/unit.test" "$package"
	done
	cat >"$tree/run" <<'END'
status=0
for test in $(find . -name unit.test | sort); do
	echo "$test"
	(cd "${test%/*}" && ./unit.test -test.short -test.timeout 5m) || status=1
done
exit $status
END
	scripts/vm --arch "$arch" -k "$ARCH_KERNEL" --tools dash,coreutils,findutils --setup modules --timeout 600 \
		--file /etc/hosts:/etc/hosts --file "$tree:/test/tree" -- dash -c 'cd tree && dash ./run'
}
