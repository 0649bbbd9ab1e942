# shellcheck shell=bash disable=SC2034
# Runs named steps and counts them.

PASSED_STEPS=0
MATCHED=0 # steps that --only names
FAILED_STEPS=()
SUMMARY=()
STEP_LOGS=$(mktemp -d "${TMPDIR:-/tmp}/rdma-test.XXXXXX")

# step NAME COMMAND… runs the command with its output in a file, which is shown
# only when it fails. It never ends the script. The command may call note.
step() {
	local name=$1 log start status=0 took word=ok
	shift
	[[ $name =~ ${ONLY:-.} || $name == *' for the guests' ]] || return 0
	[[ ! $name =~ ${ONLY:-.} ]] || MATCHED=$((MATCHED + 1))
	log=$STEP_LOGS/$((PASSED_STEPS + ${#FAILED_STEPS[@]})).log
	start=$SECONDS
	printf '%-44s' "$name" >&2
	start_group "$@" </dev/null >"$log" 2>&1
	wait "$LEADER" || status=$?
	took=$((SECONDS - start))
	if ((status == 0)); then
		PASSED_STEPS=$((PASSED_STEPS + 1))
	else
		word=FAILED
		FAILED_STEPS+=("$name")
	fi
	printf -v took '%-7s %4d s  %s' "$word" "$took" "$(cat "$NOTE" 2>/dev/null || true)"
	rm -f "$NOTE"
	printf '%s\n' "$took" >&2
	SUMMARY+=("$(printf '%-44s%s' "$name" "$took")")
	((status == 0)) || show_failure "$log"
}

# note TEXT puts a remark into the summary of the running step.
note() { printf '%s' "$*" >"$NOTE"; }

# The remark of the running step, and the output of the guest in which it runs.
NOTE=$STEP_LOGS/note
GUEST_LOG=$STEP_LOGS/guest.log

# begin_step NAME COMMAND… starts a step that runs beside others.
begin_step() {
	local name=$1 dir
	shift
	[[ $name =~ ${ONLY:-.} ]] || return 0
	dir=$(beside_folder "$name")
	mkdir -p "$dir"
	NOTE=$dir/note GUEST_LOG=$dir/guest.log start_group "$@" </dev/null >"$dir/out" 2>&1
	BESIDE[$name]=$LEADER
}

# end_step NAME waits for a step that begin_step has started.
end_step() {
	local status=0
	[[ -n ${BESIDE[$1]:-} ]] || return 0
	wait "${BESIDE[$1]}" || status=$?
	step "$1" result_of "$status" "$(beside_folder "$1")"
}

# The processes of steps that run beside others, by name.
declare -A BESIDE=()

beside_folder() { printf '%s' "$STEP_LOGS/${1//[^[:alnum:]]/_}"; }

# result_of STATUS FOLDER is what end_step does as a step.
result_of() {
	cat "$2/out"
	[[ ! -e $2/note ]] || cp "$2/note" "$NOTE"
	return "$1"
}

# show_failure LOG shows what failed tests said, and the end of the log.
show_failure() {
	{
		# Guests of several machines begin each line with their number.
		awk '
			{ node = match($0, /^\[[0-9]+\] /) ? substr($0, 1, RLENGTH) : ""; line = substr($0, length(node) + 1) }
			line ~ /^=== / { split(line, f); test[node] = f[3]; next }
			line ~ /^ *--- (PASS|SKIP|FAIL): / {
				split(line, f)
				if (f[2] == "FAIL:") printf "%s%s\n", said[node, f[3]], $0
				test[node] = ""
				next
			}
			test[node] != "" { said[node, test[node]] = said[node, test[node]] $0 "\n" }' "$1" | head -n 150
		echo '...'
		tail -n 25 "$1"
	} | cut -c1-300 | sed 's/^/    /' >&2
	if [[ -n ${RDMA_TEST_LOGS:-} ]]; then
		mkdir -p "$RDMA_TEST_LOGS"
		cp "$1" "$RDMA_TEST_LOGS/"
	fi
}

# finish_steps prints the summary and ends the script.
finish_steps() {
	printf '\n'
	printf '%s\n' "${SUMMARY[@]}"
	printf 'time: %d min %d s\n' $((SECONDS / 60)) $((SECONDS % 60))
	printf '%d passed, %d failed\n' "$PASSED_STEPS" "${#FAILED_STEPS[@]}"
	((MATCHED)) || die -s 2 "no step's name matches --only $ONLY"
	((${#FAILED_STEPS[@]} == 0))
}
