# sum.sh - run parts that each end with `N passed, N failed`, and add up their results.
#
# Source this file in the top folder of the repository. `part [-n] [-t SECONDS] NAME COMMAND...` runs one part.
# `part_folded` does the same, but prints the part's output only if the part failed. The summary line of such a part
# lists the nested parts that took 20 s or more. At the end, `print_sum` prints the total, and fails if any part failed.
# For each part, the elapsed time is printed, and the processor time of all processes that the part started.
#
# A part that does not print `N passed, N failed` counts as one test. If a part reports no failures but ends with an
# error, the error counts as a failure. If a part takes longer than its SECONDS (900), scripts/limited prints where it
# hangs, and kills it.
#
# After all other parts, failed parts are run again, one at a time. If a part passes the second time, it counts as
# passed, but `print_sum` prints `flaky: NAME`, because a flaky test must be fixed. The option -n means that COMMAND
# prints `FAIL NAME` for each failed test, and accepts such names as additional arguments, which replace the arguments
# after a `--`. Only these tests are run again. A part without -n is run again as a whole. A nested part reports its
# failures to the outermost script through the folder $COIL_FAILURES, to which it writes one script per failure.

sum_passed=0
sum_failed=0
sum_skipped=0
sum_parts=0
sum_noted=0
sum_flaky=()
sum_owns_failures=
sum_folder=$(mktemp -d)
if [ -z "${COIL_FAILURES:-}" ]; then
    sum_owns_failures=yes
    COIL_FAILURES=$sum_folder
elif ! [ -d "$COIL_FAILURES" ]; then
    COIL_FAILURES=$sum_folder
fi
sum_log=$sum_folder/log
trap 'rm -rf "$sum_folder"' EXIT

# If more tests than this have failed, the failures are probably not accidental, and no test is run again.
SUM_TRIED_AGAIN=20

# ---- one part ---------------------------------------------------------------------------

add_up() {
    local name=$1 status=$2 line passed failed skipped

    line=$(grep -aE '^[0-9]+ passed, [0-9]+ failed' "$sum_log" | tail -n 1 || true)
    if [ -z "$line" ]; then
        line=$([ "$status" = 0 ] && echo "1 passed, 0 failed" || echo "0 passed, 1 failed")
    fi
    passed=${line%% *}
    failed=${line#*, }
    failed=${failed%% *}
    skipped=0
    if [[ $line =~ ,\ ([0-9]+)\ skipped ]]; then
        skipped=${BASH_REMATCH[1]}
    fi
    if [ "$status" != 0 ] && [ "$failed" = 0 ]; then
        echo "$name: ended with status $status"
        failed=1
    fi
    sum_passed=$((sum_passed + passed))
    sum_failed=$((sum_failed + failed))
    sum_skipped=$((sum_skipped + skipped))
    part_line="$passed passed, $failed failed"
    part_failed=$failed
}

# Parse the arguments into part_name, part_by_name, part_seconds and part_command. Set
# part_failures to the folder for the failures of nested parts.
read_part() {
    part_by_name='' part_seconds=900
    while [[ $1 == -* ]]; do
        case $1 in
        -n) part_by_name=yes && shift ;;
        -t) part_seconds=$2 && shift 2 ;;
        esac
    done
    part_name=$1
    shift
    part_command=("$@")
    part_failures=$COIL_FAILURES/$((sum_parts += 1))
    mkdir -p "$part_failures"
}

# Run the command or function of this part. Write its processor time in seconds to the file $part_failures.busy.
run_part() {
    local TIMEFORMAT='%U %S'

    { time call_part >&3 2>&4; } 3>&1 4>&2 2>"$part_failures.busy"
}

call_part() {
    if [ "$(type -t "${part_command[0]}")" = function ]; then
        "${part_command[@]}"
    else
        COIL_FAILURES=$part_failures scripts/limited "$part_seconds" "${part_command[@]}"
    fi
}

# Print "203 s, busy for 310" for a part that took 203 seconds, and 310 seconds of processor time.
time_taken() {
    echo "$1 s, busy for $(awk '{ printf "%.0f", $1 + $2 }' "$part_failures.busy")"
}

part() {
    local status=0 began=$SECONDS

    read_part "$@"
    echo "== $part_name"
    run_part 2>&1 | tee "$sum_log" || status=${PIPESTATUS[0]}
    end_part "$status" $((SECONDS - began))
}

end_part() {
    add_up "$part_name" "$1"
    note_failures
    echo "-- $part_name took $(time_taken "$2")"
}

part_folded() {
    local status=0 began=$SECONDS

    read_part "$@"
    run_part >"$sum_log" 2>&1 || status=$?
    add_up "$part_name" "$status"
    note_failures
    if [ "$part_failed" != 0 ]; then
        echo "---- $part_name"
        cat "$sum_log"
        echo "---- end of $part_name"
    fi
    echo "$part_name: $part_line ($(time_taken $((SECONDS - began)))$(long_parts))"
}

# ---- parts side by side -----------------------------------------------------------------

sum_lanes=3 # two processors are half idle with two: the long suites wait for servers and timers
sum_later=()

# Like part, but run the part in the background, with $sum_lanes parts at a time. await_parts prints the outputs in
# order.
part_later() {
    local log

    while [ "$(jobs -rp | wc -l)" -ge "$sum_lanes" ]; do
        wait -n || true
    done
    read_part "$@"
    log=$part_failures.log
    {
        began=$SECONDS status=0
        run_part >"$log" 2>&1 || status=$?
        echo "$status $((SECONDS - began))" >"$log.end"
    } </dev/null &
    sum_later+=("$(declare -p part_name part_by_name part_seconds part_command part_failures)")
}

await_parts() {
    local later status seconds

    for later in "${sum_later[@]}"; do
        eval "${later//declare -/declare -g -}"
        while ! [ -e "$part_failures.log.end" ]; do
            sleep 0.1
        done
        read -r status seconds <"$part_failures.log.end"
        echo "== $part_name"
        cp "$part_failures.log" "$sum_log"
        cat "$sum_log"
        end_part "$status" "$seconds"
    done
    wait
    sum_later=()
}

# Print the long nested parts in the output, such as ": unit 203 s, crawler 41 s".
long_parts() {
    local list

    list=$(sed -nE 's/^-- (.*) took ([0-9]{3,}|[2-9][0-9]) s, (.*)$/\1 \2 s/p' "$sum_log" |
        paste -sd , | sed 's/,/, /g')
    [ -z "$list" ] || echo ": $list"
}

# ---- what failed, once more -------------------------------------------------------------

# Print the sum of the numbers in all *.count files below a folder.
failures_noted() {
    find "$1" -name '*.count' -exec cat {} + | awk '{ n += $1 } END { print n + 0 }'
}

# note COUNT NAME COMMAND... - record COUNT failures, and write a script that runs the command again under the same
# conditions.
note() {
    local file

    file=$part_failures/again-$((sum_noted += 1))
    {
        export -p
        printf 'export COIL_FAILURES=/dev/null\n'
        printf 'cd %q\n' "$PWD"
        printf '%q ' exec scripts/limited "$part_seconds" "${@:3}"
    } >"$file.run"
    echo "$2" >"$file.name"
    echo "$1" >"$file.count"
}

# Record the failures of the part that has just ended, unless its own parts have recorded all of them. Tests that cannot
# be run again separately remain failed.
note_failures() {
    local names=() without=() word noted

    noted=$(failures_noted "$part_failures")
    if [ "$part_failed" -le "$noted" ]; then
        return 0
    fi
    if [ -n "$part_by_name" ]; then
        mapfile -t names < <(sed -nE 's/^FAIL(ED)? ([^ :(][^ :]*).*/\2/p' "$sum_log")
    fi
    if [ ${#names[@]} = "$part_failed" ]; then
        for word in "${part_command[@]}"; do
            [ "$word" != -- ] || break
            without+=("$word")
        done
        for word in "${names[@]}"; do
            note 1 "$word ($part_name)" "${without[@]}" "$word"
        done
    elif [ "$noted" = 0 ] && [ "$(type -t "${part_command[0]}")" != function ]; then
        note "$part_failed" "$part_name" "${part_command[@]}"
    fi
}

try_failures_again() {
    local noted file count name

    noted=$(failures_noted "$COIL_FAILURES")
    if [ "$noted" -gt $SUM_TRIED_AGAIN ]; then
        echo "more than $SUM_TRIED_AGAIN failures: they are not tried again"
        return 0
    fi
    while read -r file; do
        name=$(cat "${file%.run}.name") count=$(cat "${file%.run}.count")
        if bash "$file" >"$sum_log" 2>&1 </dev/null; then
            sum_flaky+=("$name")
            sum_failed=$((sum_failed - count))
            sum_passed=$((sum_passed + count))
        else
            echo "---- failed twice: $name"
            cat "$sum_log"
            echo "---- end of $name"
        fi
    done < <(find "$COIL_FAILURES" -name '*.run' | sort)
    [ ${#sum_flaky[@]} = 0 ] || printf 'flaky: %s\n' "${sum_flaky[@]}"
}

print_sum() {
    [ -z "$sum_owns_failures" ] || try_failures_again
    if [ "$sum_skipped" != 0 ]; then
        echo "$sum_passed passed, $sum_failed failed, $sum_skipped skipped"
    else
        echo "$sum_passed passed, $sum_failed failed"
    fi
    [ "$sum_failed" = 0 ]
}
