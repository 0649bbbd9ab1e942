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
	wanted "$1" || return 0
	printf '%-44s' "$1" >&2
	begin_step "$@"
	report "$1"
}

# wanted NAME: --only names the step, or it prepares others.
wanted() { [[ $1 =~ ${ONLY:-.} || $1 == *' for the guests' ]]; }

# begin_step NAME COMMAND… starts a step that runs beside others.
begin_step() {
	local dir
	wanted "$1" || return 0
	dir=$(folder_of "$1")
	mkdir -p "$dir"
	NOTE=$dir/note GUEST_LOG=$dir/guest.log start_group timed "$dir/took" "${@:2}" </dev/null >"$dir/out" 2>&1
	RUNNING[$1]=$LEADER
}

# end_step NAME waits for a step that begin_step has started.
end_step() {
	[[ -n ${RUNNING[$1]:-} ]] || return 0
	printf '%-44s' "$1" >&2
	report "$1"
}

# begin_guest NAME COMMAND… is begin_step for a step with a guest: it waits until
# fewer than GUESTS of them run. end_guests waits for all.
begin_guest() {
	local name=$1
	wanted "$name" || return 0
	((${#GUEST_STEPS[@]} < GUESTS)) || end_a_guest
	begin_step "$@"
	GUEST_STEPS[${RUNNING[$name]}]=$name
}

end_guests() {
	while ((${#GUEST_STEPS[@]})); do end_a_guest; done
}

end_a_guest() {
	local ended
	wait -n -p ended "${!GUEST_STEPS[@]}" || true
	end_step "${GUEST_STEPS[$ended]}"
	unset "GUEST_STEPS[$ended]"
}

# An emulated guest keeps one processor busy.
GUESTS=2
declare -A GUEST_STEPS=() # by leader
declare -A RUNNING=()     # leaders of the steps that were begun, by name

folder_of() { printf '%s' "$STEP_LOGS/${1//[^[:alnum:]]/_}"; }

# timed FILE COMMAND… writes the seconds that the command took.
timed() {
	TOOK=$1 BEGAN=$SECONDS
	trap 'echo $((SECONDS - BEGAN)) >"$TOOK"' EXIT
	shift
	"$@"
}

# report NAME waits for a step and prints how it ended.
report() {
	local name=$1 dir status=0 word=ok line
	dir=$(folder_of "$name")
	wait "${RUNNING[$name]}" || status=$?
	unset "RUNNING[$name]"
	[[ ! $name =~ ${ONLY:-.} ]] || MATCHED=$((MATCHED + 1))
	if ((status == 0)); then
		PASSED_STEPS=$((PASSED_STEPS + 1))
	else
		word=FAILED
		FAILED_STEPS+=("$name")
	fi
	printf -v line '%-7s %4d s  %s' "$word" "$(cat "$dir/took" 2>/dev/null || echo 0)" "$(cat "$dir/note" 2>/dev/null || true)"
	printf '%s\n' "$line" >&2
	SUMMARY+=("$(printf '%-44s' "$name")$line")
	((status == 0)) || show_failure "$dir/out"
}

# note TEXT puts a remark into the summary of the running step.
note() { printf '%s' "$*" >"$NOTE"; }

# show_failure LOG shows what failed tests said, and the end of the log.
show_failure() {
	{
		failed_tests "$1" | head -n 150
		echo '...'
		tail -n 25 "$1"
	} | indented >&2
	if [[ -n ${RDMA_TEST_LOGS:-} ]]; then
		mkdir -p "$RDMA_TEST_LOGS"
		cp "$1" "$RDMA_TEST_LOGS/$(basename "$(dirname "$1")").log"
	fi
}

indented() { cut -c1-300 | sed 's/^/    /'; }

# failed_tests LOG prints what failed tests said.
failed_tests() {
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
		test[node] != "" { said[node, test[node]] = said[node, test[node]] $0 "\n" }' "$1"
}

# repeat_failures says once more, in short, what failed: the whole is far above.
repeat_failures() {
	local name log
	for name in "${FAILED_STEPS[@]}"; do
		log=$(folder_of "$name")/out
		printf '%s:\n' "$name"
		{ failed_tests "$log" | grep . || tail -n 5 "$log"; } | head -n 20 | indented
	done
}

# finish_steps prints the summary and ends the script.
finish_steps() {
	printf '\n'
	printf '%s\n' "${SUMMARY[@]}"
	repeat_failures
	printf 'time: %d min %d s\n' $((SECONDS / 60)) $((SECONDS % 60))
	printf '%d passed, %d failed\n' "$PASSED_STEPS" "${#FAILED_STEPS[@]}"
	((MATCHED)) || die -s 2 "no step's name matches --only $ONLY"
	((${#FAILED_STEPS[@]} == 0))
}
