# shellcheck shell=bash disable=SC2034
# Runs guests and brings back their output and status.
#
# Serial lines of a guest: ttyS0 kernel log, ttyS1 standard output, ttyS2
# standard error, ttyS3 protocol ("up", "rc N", "fail WHY"). Other processors
# than amd64 have virtio ports in place of the last three.

QEMU_PIDS=()
READER_PIDS=()

# Kernel messages that fail a run whatever the binary's status is.
KERNEL_TROUBLE='BUG:|Oops|WARNING: |INFO: task .* blocked|self-detected stall|general protection|Kernel panic|refcount_t:|list_(add|del) corruption'

# The file that says whether guests boot with KVM on this machine, until it reboots.
# /dev/kvm alone says little: within some virtual machines no guest comes up with it.
kvm_verdict() { printf '%s' "$CACHE/kvm/$(cat /proc/sys/kernel/random/boot_id)"; }

# remember_kvm works|fails
remember_kvm() {
	mkdir -p "$CACHE/kvm"
	echo "$1" >"$(kvm_verdict)"
}

# choose_accelerator sets ACCEL, and BOOT_TIME to a trial's where KVM is not proved yet.
choose_accelerator() {
	ACCEL=${RDMA_VM_ACCEL:-}
	if [[ -n $ACCEL ]]; then
		[[ $ACCEL =~ ^(kvm|tcg)$ ]] || die -s 2 "RDMA_VM_ACCEL is $ACCEL, want kvm or tcg"
		return
	fi
	ACCEL=tcg
	if ((ICOUNT)) || [[ $ARCH != "$(machine_arch)" || ! -r /dev/kvm || ! -w /dev/kvm ]]; then
		return
	fi
	case $(cat "$(kvm_verdict)" 2>/dev/null) in
	works) ACCEL=kvm ;;
	fails) ;;
	*) ACCEL=kvm EMULATED_BOOT_TIME=$BOOT_TIME BOOT_TIME=15 ;;
	esac
}

# emulate starts the guests again without KVM, with which they did not boot.
emulate() {
	[[ -z ${RDMA_VM_ACCEL:-} ]] || return 0
	say "guests do not boot with this machine's KVM; emulating their processors until its next start"
	remember_kvm fails
	ACCEL=tcg BOOT_TIME=${EMULATED_BOOT_TIME:-$BOOT_TIME}
	run_guests
}

# machine_arch prints this machine's processor in the names of ARCHES.
machine_arch() {
	case $(uname -m) in
	x86_64) echo amd64 ;;
	aarch64) echo arm64 ;;
	*) uname -m ;;
	esac
}

# stop_guests ends what start_guest started.
stop_guests() {
	local pids=("${QEMU_PIDS[@]}" "${READER_PIDS[@]}")
	((${#pids[@]})) || return 0
	kill -KILL "${pids[@]}" 2>/dev/null || true
	wait "${pids[@]}" 2>/dev/null || true
}

# start_reader FIFO FD PREFIX forwards what the guest writes.
start_reader() {
	if [[ -n $3 ]]; then
		sed -u "s/^/$3/" <"$1" >&"$2" &
	else
		cat <"$1" >&"$2" &
	fi
	READER_PIDS+=($!)
}

# start_guest DIR NODE: DIR has vmlinux and initrd as $VMLINUX and $INITRD say.
start_guest() {
	local dir=$1 node=$2 prefix=''
	((NODES > 1)) && prefix="[$node] "
	mkdir -p "$dir"
	rm -f "$dir"/{out,err,ctl,console}
	mkfifo "$dir/out" "$dir/err"
	: >"$dir/ctl"
	: >"$dir/console"
	start_reader "$dir/out" 1 "$prefix"
	start_reader "$dir/err" 2 "$prefix"
	# With --icount, which is for emulation, an instruction takes 4 ns of the guest's time, idle time
	# passes at once, and the processors take turns.
	# shellcheck disable=SC2054
	local clock=(-accel tcg,thread=multi)
	[[ $ACCEL != kvm ]] || clock=(-accel kvm)
	# shellcheck disable=SC2054
	((!ICOUNT)) || clock=(-accel tcg,thread=single -icount shift=2,sleep=off)
	machine_args "$dir"
	local args=(
		"${MACHINE[@]}" "${clock[@]}" -m "$MEM" -smp "$SMP"
		-nodefaults -no-user-config -display none -no-reboot
		-kernel "$VMLINUX" -initrd "$INITRD"
		-append "$(kernel_command_line "$node")"
	)
	local network=()
	((NODES > 1)) && mapfile -t network < <(network_args "$node")
	# The signal on the parent's death is for the case that this script is killed.
	setpriv --pdeathsig KILL -- "$(qemu_command)" "${args[@]}" "${network[@]}" \
		</dev/null >"$dir/qemu.log" 2>&1 &
	QEMU_PIDS[node]=$!
	if ((VERBOSE)); then
		tail --pid=$! -s 0.2 -f "$dir/console" >&2 &
		READER_PIDS+=($!)
	fi
}

kernel_command_line() {
	local line
	line="$(machine_parameters) panic=-1 mitigations=off nokaslr rcupdate.rcu_expedited=1 cryptomgr.notests"
	((VERBOSE)) || line+=' quiet'
	# The kernel hands variables it does not know to init as its environment.
	printf '%s RDMA_NODE=%s %s' "$line" "$1" "$APPEND"
}

# network_args NODE prints the arguments that put the node on the Ethernet
# segment, one a line. Node 0 is the hub: all others connect to it.
network_args() {
	local node=$1 n mac
	mac=$(printf '52:54:00:78:00:%02x' $((node + 1)))
	if ((node > 0)); then
		printf '%s\n' -netdev "$(wire connect "$node")"
	elif ((NODES == 2)); then
		printf '%s\n' -netdev "$(wire listen 1)"
	else
		printf '%s\n' -netdev hubport,id=net,hubid=0
		for ((n = 1; n < NODES; n++)); do
			printf '%s\n' -netdev "$(wire listen "$n" "port$n")"
			printf '%s\n' -netdev "hubport,id=hub$n,hubid=0,netdev=port$n"
		done
	fi
	printf '%s\n' -device "$(network_device),netdev=net,mac=$mac"
}

# wire listen|connect NODE [ID] prints the cable between node 0 and the node.
wire() {
	local server=off
	[[ $1 == listen ]] && server=on
	printf 'stream,id=%s,server=%s,addr.type=unix,addr.path=%s' "${3:-net}" "$server" "$(quoted "$TMP/wire$2")"
}

# quoted PATH prints a path as QEMU's options want it: a comma would end it.
quoted() { printf '%s' "${1//,/,,}"; }

# told DIR PATTERN: the guest has sent a line that begins so. Reading the file
# without a process saves thousands of them in a long run.
told() {
	local line
	while read -r line; do
		# shellcheck disable=SC2053 # the right side is a pattern
		[[ $line != $2 ]] || return 0
	done <"$1/ctl"
	return 1
}

# pause waits a moment without starting a process.
pause() { read -rt 0.05 -u "$TICK" || true; }

# all_finished: every guest has reported its end, or its QEMU is gone.
all_finished() {
	local n
	for ((n = 0; n < NODES; n++)); do
		told "$TMP/$n" 'rc *' || told "$TMP/$n" 'fail *' || ! kill -0 "${QEMU_PIDS[n]}" 2>/dev/null || return 1
	done
}

# guest_died: a guest has ended and reported nothing. The others would wait for it.
guest_died() {
	local n
	for ((n = 0; n < NODES; n++)); do
		told "$TMP/$n" 'rc *' || told "$TMP/$n" 'fail *' || kill -0 "${QEMU_PIDS[n]}" 2>/dev/null || return 0
	done
	return 1
}

# all_up: every guest has reached user land.
all_up() {
	local n
	for ((n = 0; n < NODES; n++)); do
		told "$TMP/$n" up || return 1
	done
}

# run_guests boots all nodes, waits for them, and sets STATUS and NEVER_UP.
run_guests() {
	local n start=$SECONDS
	QEMU_PIDS=() READER_PIDS=()
	rm -f "$TMP"/wire* "$TMP/tick"
	mkfifo "$TMP/tick"
	exec {TICK}<>"$TMP/tick"
	for ((n = 0; n < NODES; n++)); do
		((n == 0)) || wait_for_hub
		start_guest "$TMP/$n" "$n"
	done
	until all_finished || guest_died; do
		if ((SECONDS - start > BOOT_TIME)) && ! all_up; then
			say "no guest after $BOOT_TIME s"
			break
		elif ((SECONDS - start > BOOT_TIME + TIMEOUT)); then
			say "no answer from the guest, $TIMEOUT s for the binary and $BOOT_TIME s for booting are over"
			break
		fi
		pause
	done
	end_guests
	exec {TICK}>&-
	collect_status
}

# wait_for_hub returns when node 0 listens.
wait_for_hub() {
	local n tries=100
	for ((n = 1; n < NODES; n++)); do
		until [[ -e $TMP/wire$n ]] || ((tries-- == 0)); do
			pause
		done
	done
}

# end_guests stops QEMU and lets the readers take the rest of the output.
end_guests() {
	local n
	for ((n = 0; n < NODES; n++)); do
		# A lone guest powers off by itself after its report.
		((NODES == 1)) && await_exit "${QEMU_PIDS[n]}"
		kill -KILL "${QEMU_PIDS[n]}" 2>/dev/null || true
		wait "${QEMU_PIDS[n]}" 2>/dev/null || true
		# If QEMU never opened them, the readers still wait for a writer.
		: <>"$TMP/$n/out" <>"$TMP/$n/err"
	done
	QEMU_PIDS=()
	wait "${READER_PIDS[@]}" 2>/dev/null || true
	READER_PIDS=()
}

# await_exit PID gives the process two seconds to end.
await_exit() {
	local tries=40
	while kill -0 "$1" 2>/dev/null && ((tries-- > 0)); do
		pause
	done
}

# collect_status sets STATUS to the first status that is not 0, and NEVER_UP
# when a guest did not reach user land.
collect_status() {
	local n rc
	STATUS=0
	NEVER_UP=0
	for ((n = 0; n < NODES; n++)); do
		rc=$(sed -nE 's/^rc ([0-9]+).*/\1/p' "$TMP/$n/ctl" | head -n 1)
		told "$TMP/$n" up || NEVER_UP=1
		if [[ -z $rc ]]; then
			guest_failed "$n"
			rc=125
		elif ((rc == 124)); then
			say "node $n: the binary was killed after $TIMEOUT s"
		fi
		((STATUS != 0)) || STATUS=$rc
	done
}

# emulator_slipped: QEMU's emulation of several processors now and then runs a
# breakpoint that the kernel has already taken out of its code again.
emulator_slipped() {
	grep -qaE '(Oops: )?int3: 0000' "$TMP"/*/console
}

guest_failed() {
	local why
	why=$(sed -n 's/^fail //p' "$TMP/$1/ctl" | head -n 1)
	if [[ -n $why ]]; then
		say "guest $1: $why"
	elif [[ -s $TMP/$1/qemu.log ]]; then
		say "QEMU: $(tail -n 3 "$TMP/$1/qemu.log")"
	else
		say "guest $1 ended without reporting a status"
	fi
}

# keep_kernel_logs copies the kernel logs to the cache and says where they are.
keep_kernel_logs() {
	local n keep
	mkdir -p "$CACHE/logs"
	find "$CACHE/logs" -type f -mtime +3 -delete
	for ((n = 0; n < NODES; n++)); do
		[[ -s $TMP/$n/console ]] || continue
		keep=$CACHE/logs/$(date +%Y%m%d-%H%M%S)-$$-$n.log
		tr -d '\r' <"$TMP/$n/console" >"$keep"
		say "kernel log: $keep"
	done
}

# report_kernel_log keeps the logs of a failed run and shows what the kernels complained
# about, which is a failure too.
report_kernel_log() {
	local n log trouble=0
	for ((n = 0; n < NODES; n++)); do
		log=$TMP/$n/console
		if grep -qaE "$KERNEL_TROUBLE" "$log"; then
			trouble=1
			say "the kernel of guest $n complained:"
			tr -d '\r' <"$log" | grep -aE -A 12 "$KERNEL_TROUBLE" | head -n 40 >&2
		elif ((STATUS == 124 || STATUS == 125)); then
			tail -n 15 "$log" | tr -d '\r' >&2
		fi
	done
	((!trouble || STATUS)) || STATUS=126
	((!STATUS)) || keep_kernel_logs
}
