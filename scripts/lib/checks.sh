# shellcheck shell=bash disable=SC2034
# The steps of scripts/test.
# All run in $ROOT; $WORK is a scratch folder.

STATICCHECK=honnef.co/go/tools/cmd/staticcheck@v0.8.2

# Packages of C programs that the integration tests talk to.
GUEST_TOOLS=rdmacm-utils,ibverbs-utils,nftables

# Packages with tests that need no kernel.
unit_packages() { go list ./... | grep -v "/integration$"; }

check_format() {
	local bad
	bad=$(gofmt -l .)
	[[ -z $bad ]] || {
		echo "gofmt would change:"
		echo "$bad"
		return 1
	}
}

# check_vet OS ARCH
check_vet() { CGO_ENABLED=0 GOOS=$1 GOARCH=$2 go vet ./...; }

check_lint() { CGO_ENABLED=0 go run "$STATICCHECK" ./...; }

check_shell() {
	require shellcheck
	shellcheck -x scripts/vm scripts/bench scripts/bench-conn scripts/bench-verbs scripts/release scripts/transcripts scripts/demo scripts/test scripts/headers scripts/lib/*.sh .ci/run
}

check_unit() {
	local packages
	packages=$(unit_packages)
	# shellcheck disable=SC2086
	CGO_ENABLED=0 go test -timeout 5m $packages
}

check_race() {
	local packages
	packages=$(unit_packages)
	# shellcheck disable=SC2086
	CGO_ENABLED=1 go test -race -timeout 8m $packages
}

# check_release: the tool that makes images and bills of materials, the
# Kubernetes examples, and that two builds are equal.
check_release() {
	go -C scripts/releasetool vet ./...
	CGO_ENABLED=0 go -C scripts/releasetool test ./...
	scripts/release -o "$WORK/release" --version check --check
}

# check_layout compares the abi package with the newest kernel's headers.
check_layout() {
	local headers
	headers=$(scripts/headers)
	RDMA_UAPI_HEADERS=$headers CGO_ENABLED=0 go test -count=1 ./abi
}

# check_build OS ARCH
check_build() {
	CGO_ENABLED=0 GOOS=$1 GOARCH=$2 go build -o /dev/null ./cmd/rdmaprobe
	CGO_ENABLED=0 GOOS=$1 GOARCH=$2 go build ./...
}

# check_static: one file that needs no loader and no library.
check_static() {
	! ldd "$WORK/rdmaprobe" || return 1
	# The name of a program interpreter would be in the file's first page.
	! head -c 4096 "$WORK/rdmaprobe" | grep -qa 'ld-linux'
}

# check_layers: who may import whom, as ARCHITECTURE.md says, and what users of the
# library get into their builds.
check_layers() {
	local module extra
	module=$(go list -m)
	imports ./abi/... | awk '$2 !~ /^(strconv|structs|unsafe)$/ { print; bad = 1 } END { exit bad }'
	imports ./internal/... | outside "$module" "abi internal"
	imports ./ucma/... | outside "$module" "abi internal"
	imports ./uverbs/... | outside "$module" "abi internal uverbs"
	imports ./cm/... | outside "$module" "abi internal ucma uverbs cm"
	extra=$(go list -deps -f '{{with .Module}}{{.Path}}{{end}}' ./cm/... | sort -u |
		grep -vxE "$module|golang.org/x/sys|github.com/vishvananda/(netlink|netns)" || true)
	[[ -z $extra ]] || {
		echo "cm depends on:"
		echo "$extra"
		return 1
	}
}

# imports PACKAGES… prints each package and what it imports, one pair a line.
# shellcheck disable=SC2016 # a template's variables
imports() { go list -f '{{$p := .ImportPath}}{{range .Imports}}{{$p}} {{.}}{{"\n"}}{{end}}' "$@"; }

# outside MODULE FOLDERS fails for imports that are neither of the standard library nor of
# the two modules that the library may use, nor in one of the module's folders.
outside() {
	awk -v module="$1" -v folders="$2" '
		BEGIN { n = split(folders, f, " ") }
		NF < 2 || $2 !~ /^[^\/]*\./ || $2 ~ /^golang.org\/x\/sys\// || $2 ~ /^github.com\/vishvananda\/netlink/ { next }
		{ for (i = 1; i <= n; i++) if (index($2 "/", module "/" f[i] "/") == 1) next
		  print $1 " may not import " $2; bad = 1 }
		END { exit bad }'
}

# Fuzz targets of what peers and kernels send to connections: events, private
# data and addresses. They run half a million times each; others a moment.
FUZZ_LONG='^Fuzz(DecodeEvent|Event|RejectError|RemoteMemory|Sockaddr|SockaddrFromKernel|Address)$'

# check_fuzz runs every fuzz target, two at a time, after everybody else's work.
check_fuzz() {
	renice -n 19 "$BASHPID" >/dev/null
	export FUZZ_LONG FUZZ_RUNS WORK
	export -f fuzz
	grep -rnoE --include='*_test.go' '^func Fuzz\w+' . | sed -E 's/^([^:]+)\/[^:/]+:[0-9]+:func /\1 /' |
		xargs -P 2 -L 1 bash -c 'fuzz "$@"' _
}

# fuzz FOLDER TARGET. Executions are counted: the fuzzer reports the end of a time as its
# own failure now and then.
fuzz() {
	local runs=${FUZZ_RUNS:-2000x} log=$WORK/fuzz.$BASHPID status=0
	[[ ! $2 =~ $FUZZ_LONG ]] || runs=100000x
	CGO_ENABLED=0 go test -run '^$' -fuzz "^$2\$" -fuzztime "$runs" -fuzzminimizetime 1s -parallel 1 \
		"$1" >"$log" 2>&1 || status=$?
	cat "$log" # whole, although another target runs beside this one
	return "$status"
}

# check_vm KERNEL: output, status and time limit of a guest.
check_vm() {
	local status=0
	scripts/vm -k "$1" --tools dash,coreutils -- dash -c 'echo out; echo err >&2; printf "a\r\nb"; exit 7' \
		>"$WORK/out" 2>"$WORK/err" || status=$?
	cat "$WORK/out" "$WORK/err"
	((status == 7))
	grep -qx err "$WORK/err"
	[[ $(od -An -c "$WORK/out" | tr -d ' \n') == 'out\na\r\nb' ]]
	status=0
	scripts/vm -k "$1" --timeout 2 --tools dash,coreutils -- dash -c 'sleep 1000' || status=$?
	((status == 124))
}

# check_alone KERNEL: rdmaprobe as the only file of its root file system.
check_alone() {
	scripts/vm -k "$1" --bare --setup modules "$WORK/rdmaprobe" demo
}

# check_no_rdma KERNEL: without RDMA the program ends with status 3 and valid JSON, and
# the library says what is missing.
check_no_rdma() {
	local command failed=0
	cat >"$WORK/json.go" <<-END
		package main
		import ("encoding/json"; "log"; "os")
		func main() {
			var doc map[string]any
			if err := json.NewDecoder(os.Stdin).Decode(&doc); err != nil { log.Fatal(err) }
		}
	END
	for command in list doctor gids "ping 10.0.0.1" "cmping 10.0.0.1" serve demo; do
		without_rdma "$1" "$command" || failed=1
	done
	scripts/vm -k "$1" --no-rdma --env RDMA_WITHOUT=1 "$WORK/integration.test" \
		-test.v -test.run '^TestDiscoveryWithoutRDMA$' | tee "$WORK/without.log" || failed=1
	grep -q -- '--- PASS: TestDiscoveryWithoutRDMA' "$WORK/without.log" || failed=1
	return "$failed"
}

# without_rdma KERNEL COMMAND
without_rdma() {
	local status=0
	# shellcheck disable=SC2086 # a command and its arguments
	scripts/vm -k "$1" --bare "$WORK/rdmaprobe" $2 --json >"$WORK/without.json" || status=$?
	cat "$WORK/without.json"
	((status == 3)) || {
		echo "$2: status $status, want 3"
		return 1
	}
	go run "$WORK/json.go" <"$WORK/without.json" || {
		echo "$2: no JSON"
		return 1
	}
}

# in_guest KERNEL BINARY OPTIONS… -- FLAGS… runs an integration test binary; its
# folder is the working directory because of testdata. Nothing is tried twice: a test that
# fails on a busy machine has a bug, or the product has.
in_guest() {
	local kernel=$1 binary=$2 options=() log=$GUEST_LOG status=0
	shift 2
	while [[ $1 != -- ]]; do
		options+=("$1")
		shift
	done
	shift
	(cd integration && ../scripts/vm -k "$kernel" --tools "$GUEST_TOOLS" --env RDMA_REQUIRE=1 \
		--file "$WORK/rdmaprobe:/usr/bin/rdmaprobe" "${options[@]}" "$binary" -test.v "$@") 2>&1 |
		tee "$log" || status=$?
	note "$(results_in "$log"), $(kernel_release "$kernel" "${options[@]}")"
	((status == 0))
	# Nothing run at all is no success.
	grep -qE -- '--- PASS' "$log"
}

# results_in LOG prints how many tests passed and were skipped.
results_in() {
	printf '%s passed, %s skipped' "$(grep -cE -- '--- PASS' "$1")" "$(grep -cE -- '--- SKIP' "$1")"
}

# kernel_release SERIES OPTIONS… prints the release that scripts/vm boots with the options.
kernel_release() {
	local series=$1 ARCH=$ARCH SIW=0
	shift
	while (($#)); do
		case $1 in
		--siw) SIW=1 ;;
		--arch) ARCH=$2 ;;
		esac
		shift
	done
	cat "$(fetch_kernel "$series")/release"
}

# check_integration KERNEL: all tests that need one machine. Races run in full
# on the newest kernel.
check_integration() {
	local races=20 suite=full
	[[ $1 != "${K[-1]}" ]] || races=100
	# What differs between kernels shows at the ends of the row first.
	[[ $1 == "${K[0]}" || $1 == "${K[-1]}" ]] || suite=short
	in_guest "$1" "$WORK/integration.test" --env RDMA_RACES=$races --env RDMA_SUITE=$suite --timeout 1800 -- -test.timeout 29m
}

# check_silence KERNEL: the kernel's own time limits, of more than a minute, in a
# guest whose idle time passes at once where it can.
check_silence() {
	local clock=(--icount)
	! waits_idly "$1" || clock=()
	in_guest "$1" "$WORK/integration.test" "${clock[@]}" --env RDMA_LONG=1 --timeout 300 -- -test.timeout 4m -test.run Long
}

# waits_idly KERNEL: it does not boot with such a clock, so that the limits pass by the
# real one, with nothing to do meanwhile.
waits_idly() { [[ $1 =~ ^(5.10|6.1)$ ]]; }

# check_gc KERNEL: memory under the collector, for longer than beside the others, and at
# rates that are required, thus with a clock that does not depend on the machine's load.
check_gc() {
	in_guest "$1" "$WORK/integration.test" --icount --env RDMA_GC_SECONDS=60 --timeout 400 -- -test.timeout 3m -test.run GCStress
}

# The kernel on which numbers are compared with C's.
BENCH_KERNEL=6.12

# check_perftest KERNEL: what rdmaprobe bench measures, beside perftest.
check_perftest() {
	in_guest "$1" "$WORK/integration.test" --icount --tools perftest --env RDMA_PERFTEST=1 --timeout 120 -- \
		-test.timeout 2m -test.run PerftestAgrees
}

# check_siw KERNEL: the tests of connections, and siw's own, on soft-iWARP.
check_siw() {
	in_guest "$1" "$WORK/integration.test" --siw --env RDMA_CYCLES=300 --timeout 900 -- -test.timeout 14m \
		-test.run '^Test(Siw|Options|Lost|KeepAlive|LentMemory|Isolation|SharedPD|Conn|Handshake|Listen|Dial|Cycles|Device|Peer|ID[A-Z]|Scale|Rping|Interop(Rping|Ucmatose|Cmtime))'
}

# check_siw_nodes KERNEL: between two machines.
check_siw_nodes() {
	in_guest "$1" "$WORK/integration.test" --siw --nodes 2 --timeout 300 -- -test.timeout 4m -test.run 'Nodes(Connect|Rping)'
}

# check_nodes KERNEL: the tests that need two machines.
check_nodes() {
	in_guest "$1" "$WORK/integration.test" --nodes 2 --timeout 600 -- -test.timeout 9m -test.run '^TestNodes'
}

# Tests that run rdmaprobe and do nothing else: the program has no race detector.
OF_RDMAPROBE='^Test(Doctor|CMPing|Path|GIDs|Sandbox|Contract|Transcript|Probe|PingData)'

# check_integration_race KERNEL: the other tests under the race detector, which makes
# them slow; so the ones that count connections make fewer.
check_integration_race() {
	CGO_ENABLED=1 go test -race -c -o "$WORK/race.test" \
		-ldflags '-linkmode external -extldflags -static' ./integration
	in_guest "$1" "$WORK/race.test" --mem 1536 --env RDMA_CYCLES=100 --env RDMA_SCALE=40 \
		--timeout 1500 -- -test.timeout 24m -test.skip "$OF_RDMAPROBE"
}
